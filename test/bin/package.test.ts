import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { fixtures, makeSample, sampleSpec } from '../engine/run/sample.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

t.test('the compiled package does the main job: workers, rules and plugins are found in it', async (t) => {
  const built = spawnSync(process.execPath, ['scripts/build.ts'], { cwd: root, encoding: 'utf8' });
  t.equal(built.status, 0, `${built.stdout}${built.stderr}`.slice(-2000));
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  const writ = (...args: string[]) => {
    const main = join(root, 'dist', 'bin', 'main.js');
    const done = spawnSync(process.execPath, [main, ...args, '--json'], {
      cwd: sample.root,
      env: sample.env,
      encoding: 'utf8',
    });
    return { status: done.status, text: `${done.stdout}${done.stderr}` };
  };
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  for (const line of [
    ['spec', 'validate', spec],
    ['plan', spec],
    ['run', spec, '--patch', patch],
    ['verify', 'HEAD'],
    ['fsck'],
  ]) {
    const { status, text } = writ(...line);
    t.equal(status, 0, `${line.join(' ')}: ${text.slice(0, 1000)}`);
  }
});
