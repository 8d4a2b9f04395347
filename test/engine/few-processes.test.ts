import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { long } from '../rooms/long.ts';
import { until } from '../waiting/until.ts';
import { isRunning, startedChildren } from '../workspace/git/started-children.ts';
import { fixtures, makeSample } from './sample.ts';

const folder = join(fixtures, 'a-fix-with-a-new-test-is-committed');
const diff = readFileSync(join(folder, 'change.diff'));

const onLinux = {
  skip: process.platform === 'linux' ? false : 'what runs is read from /proc',
  timeout: 240_000,
};

long('a run starts few git processes, and none of them outlives it', onLinux, async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  using children = startedChildren();
  const opened = (): number => readdirSync('/proc/self/fd').length;
  const view = await sample.run({ source: { kind: 'patch', bytes: diff } });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  const count = children.gits().length;
  t.ok(count > 10 && count <= 29, `${count}: ${children.gits().join(' ')}`);
  t.same(children.running(), []);

  const before = opened();
  const other = makeSample();
  t.teardown(() => other.remove());
  const bytes = Buffer.from('--- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n');
  await t.rejects(other.run({ source: { kind: 'patch', bytes } }), { code: 'PATCH_DOES_NOT_APPLY' });
  t.same(children.running(), [], 'nor where there is no run');
  t.ok(opened() <= before + 2, `${before} open files before, ${opened()} after`);
});

long('a killed run leaves no child process behind', onLinux, async (t) => {
  const box = mkdtempSync(join(tmpdir(), 'writ-test-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  const run = spawn(process.execPath, [join(import.meta.dirname, 'stuck-run.ts')], {
    env: { ...process.env, TMPDIR: box },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(run.stdout, 'data')) as [Buffer];
  const { pids } = JSON.parse(line.toString()) as { pids: readonly number[] };
  t.ok(pids.length >= 1 && pids.every(isRunning), `${pids.length} are running`);
  run.kill('SIGKILL');
  await once(run, 'exit');
  await until(() => !pids.some(isRunning), 'the end of the processes of a killed run');
  t.same(pids.filter(isRunning), []);
});
