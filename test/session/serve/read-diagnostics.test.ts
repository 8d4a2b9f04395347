import t from 'tap';
import { readDiagnostics } from '../../../session/serve/serve-session.ts';
import { newWorld } from '../state/walk.ts';

t.test('diagnostics report self-approval as not tried, impossible or possible', async (t) => {
  const { state } = newWorld({ local: 'none' });
  const told = async (isTried: boolean, reached: readonly string[]) => {
    const { sandbox } = await readDiagnostics(() => state, {
      provider: 'gemini',
      key: undefined,
      logFile: undefined,
      ports: () => ({ web: 1 }),
      sandbox: async () => ({ backend: 'none', enforced: [] }),
      selfTest: async () => ({ isTried, reached }),
    });
    return sandbox.selfApproval;
  };
  t.strictSame(
    [await told(false, []), await told(true, []), await told(true, ['port 3000'])],
    ['not_tried', 'impossible', 'possible'],
  );
});
