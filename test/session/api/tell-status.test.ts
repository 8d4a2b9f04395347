import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { sessionRoutes } from '../../../session/api/session-routes.ts';
import type { SessionChannel } from '../../../session/open-channel.ts';
import { diagnosticsRoute } from '../../../session/serve/serve-session.ts';
import { serveSession } from './serve-session.ts';

t.test('a status that cannot be computed is STATUS_UNAVAILABLE until it can be', async (t) => {
  let isSound = false;
  const { port, faults } = await serveSession(t, {
    routes: (api) => {
      const channel = (): SessionChannel | undefined => {
        const found = api.channel();
        if (found === undefined || isSound) return found;
        // A time that has no date.
        return Object.create(found, { state: { value: { ...found.state, updatedAtMs: 9e15 } } });
      };
      const diagnostics = diagnosticsRoute(() => api.channel()?.state, {
        provider: 'none',
        key: undefined,
        logFile: undefined,
        sandbox: async () => {
          if (!isSound) throw new WritError('SANDBOX_FAILED', { message: 'fork: out of memory' });
          return { backend: 'bubblewrap', enforced: [] };
        },
        selfTest: async () => ({ isTried: false, reached: [] }),
        ports: () => ({ web: 1 }),
      });
      return [...sessionRoutes({ ...api, channel }), diagnostics];
    },
  });
  const ask = async (path: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/code/${path}`);
    return [answer.status, await answer.json()];
  };
  t.match(await ask('session'), [500, { error: { code: 'STATUS_UNAVAILABLE' } }]);
  const told = { code: 'STATUS_UNAVAILABLE', details: { because: 'SANDBOX_FAILED' } };
  t.match(await ask('diagnostics'), [500, { error: told }]);
  t.match(
    faults,
    [{ code: 'STATUS_UNAVAILABLE' }, { code: 'STATUS_UNAVAILABLE' }],
    'both are faults of ours',
  );
  isSound = true;
  t.match(await ask('session'), [200, { status: 'idle' }]);
  t.match(await ask('diagnostics'), [200, { sandbox: { backend: 'bubblewrap' } }]);
});
