import { join } from 'node:path';
import t, { type Test } from 'tap';
import { attestPlugin } from '../../../attest/attestor/plugin.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { contractRows } from '../../../spec/contract-rows.ts';
import { type LogSubject, logTester } from '../../../testing.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { serveV2 } from '../public/log-servers.ts';

/** Every log, by its name in the slot, and what it is opened with. */
const asked: Readonly<Record<string, (t: Test) => Promise<Pick<LogSubject, 'log' | 'files' | 'keepsNone'>>>> =
  {
    'internal-ledger': async () => ({}),
    async 'public-log'(t) {
      // The mock of version 1 holds one entry, whatever it is handed.
      const { url, trustedRoot } = await serveV2(t);
      return {
        log: `url = "${url}"\napi = "v2"\ntrusted_root = "root.json"`,
        files: { 'root.json': trustedRoot },
      };
    },
    none: async () => ({ keepsNone: true }),
  };

async function engineOf(home: string) {
  return createEngine({
    plugins: [attestPlugin({ env: { HOME: home }, ephemeralKey: false })],
    rows: contractRows,
    report: () => {},
  });
}

t.test('every log in the slot has a conformance test', async (t) => {
  await using engine = await engineOf(t.testdir());
  t.strictSame([...engine.slots.log.names].sort(), Object.keys(asked).sort());
});

for (const [name, ask] of Object.entries(asked)) {
  t.test(name, async (t) => {
    const home = t.testdir();
    await using engine = await engineOf(home);
    let made = 0;
    await logTester(t, {
      name,
      source: await engine.slots.log.pick(name),
      ...(await ask(t)),
      repository() {
        made += 1;
        return makeRepository(join(home, `repository-${made}`)).dir;
      },
    });
  });
}
