import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { stagePackage } from '../../bench/stage-package.ts';
import { fixtures, makeSample, sampleSpec } from '../engine/run/sample.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

t.test('the compiled package does the main job: workers, rules and plugins are found in it', async (t) => {
  const built = spawnSync(process.execPath, ['scripts/build.ts'], { cwd: root, encoding: 'utf8' });
  t.equal(built.status, 0, `${built.stdout}${built.stderr}`.slice(-2000));
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = join(sample.home, 'spec.json');
  writeFileSync(spec, sampleSpec());
  const launcher = stagePackage();
  t.teardown(() => rmSync(dirname(dirname(launcher)), { recursive: true }));
  const writ = (...args: string[]) => {
    const done = spawnSync(process.execPath, [launcher, ...args, '--json'], {
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
    t.match(JSON.parse(text), { ok: true, command: new RegExp(`^${line[0]}`) }, `${line.join(' ')} was done`);
  }
});
