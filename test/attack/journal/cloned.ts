import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeSample } from '../../engine/sample.ts';
import { type Answer, callIn, type WaitingRun } from './waiting-run.ts';

export interface Clone {
  readonly root: string;
  readonly home: string;
  call(...args: string[]): Promise<Answer>;
  git(...args: string[]): string;
}

/** Another person's clone on another machine: another home, nothing but what its refs bring. */
export async function cloned(t: Test, { sample, runId }: WaitingRun): Promise<Clone> {
  const box = makeSample();
  t.teardown(() => box.remove());
  const root = join(box.home, 'clone');
  const git = (...args: string[]): string => {
    const { stdout, stderr, status } = spawnSync('git', args, { cwd: root, env: box.env, encoding: 'utf8' });
    t.equal(status, 0, `git ${args[0]}: ${stderr}`);
    return stdout.trim();
  };
  sample.git('clone', '--quiet', '--no-local', sample.root, root);
  git('config', 'user.name', 'Otto');
  git('config', 'user.email', 'otto@sample.example');
  const call = callIn(t, box, root, box.home);
  t.equal((await call('fetch')).code, 0);
  t.match(await call('show', runId), { code: 0 });
  return { root, home: box.home, call, git };
}
