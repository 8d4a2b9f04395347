import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { contractRows } from '../../../engine/spec/contract-rows.ts';
import { sandboxPlugin } from '../../../plugins/sandbox/plugin.ts';
import { until } from '../../waiting/until.ts';
import { openScene, outputOf, processesWith, uniqueSleep } from './sandbox-scene.ts';

// Beside everything else of a busy machine.
t.setTimeout(240_000);

await using engine = await createEngine({ plugins: [sandboxPlugin], rows: contractRows, report: () => {} });
const { sandbox: slot } = engine.slots;
const working: SandboxBackend[] = [];
const confining: string[] = [];
for (const name of slot.names) {
  const backend = await slot.pick(name);
  t.equal(backend.name, name, 'a back end bears the name that it is picked by');
  if (!backend.unconfined) confining.push(name);
  const { works, enforced, reason } = await backend.probe();
  t.equal(
    works && enforced.length === 0,
    backend.unconfined === true && works,
    'what works enforces something',
  );
  if (works) working.push(backend);
  else t.comment(`${name} does not work here: ${reason}`);
}
t.ok(working.length > 0, 'at least one back end works here, or nothing below means anything');
// These are the ones that `sandbox-attack.test.ts` and `attack/confinement` attack: a new one belongs into both.
t.strictSame(confining, ['bubblewrap', 'unshare']);

for (const backend of working) {
  const named = (sentence: string): string => `${backend.name}: ${sentence}`;

  t.test(named('a command works where it is told to, and is answered as it ended'), async (t) => {
    const scene = openScene(t);
    const inside = backend.pathsInside(scene);
    const script = 'pwd; echo err >&2; cat; echo kept >written; echo seen >"$REPORTS/report"; exit 7';
    const result = await scene.run(backend, script, {
      env: { REPORTS: inside.reports },
      stdin: Buffer.from('told\n'),
    });
    t.match(result, { exitCode: 7, timedOut: false, aborted: false });
    t.equal(result.stdout.bytes.toString(), `${inside.workspace}\ntold\n`);
    t.equal(result.stderr.bytes.toString(), 'err\n');
    t.match(result.combined.bytes.toString(), /err\n/);
    t.equal(readFileSync(path.join(scene.workspace, 'written'), 'utf8'), 'kept\n');
    t.equal(readFileSync(path.join(scene.reports, 'report'), 'utf8'), 'seen\n');
    t.ok(result.durationMs >= 0);
  });

  t.test(named('no variable of ours reaches a command, and its output is bounded'), async (t) => {
    const scene = openScene(t);
    process.env.WRIT_TEST_SECRET = 'leaked';
    t.teardown(() => delete process.env.WRIT_TEST_SECRET);
    const told = outputOf(await scene.run(backend, 'env', { env: { TOLD: 'yes' } }));
    t.match(told, /^TOLD=yes$/m);
    for (const name of ['PATH', 'HOME', 'TMPDIR']) t.match(told, new RegExp(`^${name}=/`, 'm'));
    t.notMatch(told, 'leaked');
    const { stdout } = await scene.run(backend, 'head -c 5000 /dev/zero', { maxOutputBytes: 1000 });
    t.match(stdout, { totalBytes: 5000, truncated: true });
    t.ok(stdout.bytes.length <= 1000);
  });

  t.test(named('a time-out and an abort end every descendant'), async (t) => {
    const scene = openScene(t);
    const late = uniqueSleep();
    const script = (sleep: string): string => `setsid sleep ${sleep} & sleep ${sleep} & wait`;
    const timed = await scene.run(backend, script(late), { timeoutMs: 1_500 });
    t.match(timed, { timedOut: true });
    t.equal(timed.exitCode, undefined);
    t.strictSame(processesWith(late), []);
    const stopped = uniqueSleep();
    const stop = new AbortController();
    const running = scene.run(backend, script(stopped), { signal: stop.signal });
    await until(() => processesWith(stopped).length > 0, 'the command');
    stop.abort();
    t.match(await running, { aborted: true });
    t.strictSame(processesWith(stopped), []);
  });
}
