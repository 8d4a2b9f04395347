import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeSample } from '../../engine/sample.ts';
import { casesOf } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { startWrit } from '../start-writ.ts';

t.setTimeout(240_000);

const never = 'export async function* ask() { await new Promise(() => setInterval(() => {}, 1000)); }\n';

/** A provider whose module is this, and a temporary directory that the words of all its processes name. */
async function silentPlugin(t: Test, text: string) {
  const sample = makeSample();
  const place = mkdtempSync(join(tmpdir(), 'silent-'));
  t.teardown(() => {
    sample.remove();
    rmSync(place, { recursive: true, force: true });
  });
  const at = { cwd: sample.root, env: { ...sample.env, TMPDIR: place } };
  t.equal(await startWrit(['plugin', 'new', 'provider', 'parrot'], at).ended, 0);
  writeFileSync(join(sample.root, 'parrot/provider.js'), text);
  const processes = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(place);
      } catch {
        return false;
      }
    });
  return { test: () => startWrit(['--json', 'plugin', 'test', 'parrot'], at), processes, place };
}

const silences = { 'a module that never loads': 'while (true);\n', 'a provider that never answers': never };

// The other keeps a processor busy to its deadline.
for (const [how, text] of casesOf(silences, ['a provider that never answers']))
  t.test(`${how} is reported once, and no later case runs`, async (t) => {
    const { test, processes, place } = await silentPlugin(t, text);
    const running = test();
    t.equal(await running.ended, 1);
    const [part] = JSON.parse(running.out()).data.parts;
    t.match(part.failures, [
      /`parrot: recorded, `text` .*no answer within 20 s; its processes were ended/,
      /not played, because the module was silent before: \d+ cases/,
    ]);
    t.strictSame(processes(), []);
    t.strictSame(readdirSync(place), []);
  });

for (const [signal] of casesOf<'SIGINT' | 'SIGTERM', undefined>({ SIGINT: undefined, SIGTERM: undefined }, [
  'SIGTERM',
]))
  t.test(`${signal} ends a test suite and all its processes`, async (t) => {
    const { test, processes, place } = await silentPlugin(t, 'while (true);\n');
    const running = test();
    await until(() => processes().length > 0);
    running.child.kill(signal);
    t.equal(await running.ended, 130);
    t.match(JSON.parse(running.out()), { error: { code: 'RUN_INTERRUPTED' } });
    t.strictSame(processes(), []);
    t.strictSame(readdirSync(place), []);
  });
