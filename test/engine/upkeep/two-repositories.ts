import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import type { Moved, MoveRequest } from '../../../engine/upkeep/push-refs.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { outputOf } from '../../starter/run-program.ts';

// Set before any git of ours runs: they are the allow-listed part of its environment.
process.env.GIT_CONFIG_GLOBAL = '/dev/null';
process.env.GIT_CONFIG_NOSYSTEM = '1';
for (const who of ['AUTHOR', 'COMMITTER']) {
  process.env[`GIT_${who}_NAME`] = 'A';
  process.env[`GIT_${who}_EMAIL`] = 'a@example.com';
}

export const clock = systemClock;

/** A real repository on disk. */
export interface Clone {
  readonly root: string;
  git(...args: string[]): string;
  /** Writes a ref of ours on top of what it stands on; `atMs` is the commit's time. */
  write(ref: string, files: Record<string, string>, atMs?: number): Promise<string>;
  move(act: (request: MoveRequest) => Promise<Moved>, remote?: string): Promise<Moved>;
  ref(name: string): string;
}

const boxes: string[] = [];
process.once('exit', () => {
  for (const box of boxes) rmSync(box, { recursive: true, force: true });
});

/** A bare remote and as many clones of it as are asked for, in one directory that goes when the process does. */
export function makeRemote(): { readonly box: string; readonly bare: string; clone(name: string): Clone } {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-upkeep-')));
  boxes.push(box);
  const bare = join(box, 'remote.git');
  outputOf('git', ['init', '--quiet', '--bare', bare]);
  return { box, bare, clone: (name) => makeClone(join(box, name), bare) };
}

function makeClone(root: string, bare: string): Clone {
  mkdirSync(root);
  const git = (...args: string[]): string => outputOf('git', args, { cwd: root }).toString().trim();
  git('init', '--quiet', '-b', 'main');
  git('commit', '--quiet', '--allow-empty', '-m', 'first');
  git('remote', 'add', 'origin', bare);
  return {
    root,
    git,
    async write(ref, files, atMs) {
      const store = openGitNativeStore(await openRepository(root), { clock });
      return store.writeTree(ref, {
        message: 'test',
        keepExisting: false,
        ...(atMs === undefined ? {} : { atMs, expectedOld: (await store.version(ref)) ?? null }),
        files: Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const),
      });
    },
    async move(act, remote) {
      const repository = await openRepository(root);
      return act({ repository, remote, cwd: root, clock, signal: new AbortController().signal });
    },
    ref: (name) => git('rev-parse', '--verify', '--quiet', name),
  };
}

/** `ref status` of each, for comparing. */
export function told({ refs }: Moved): readonly string[] {
  return refs.map(({ ref, status }) => `${ref} ${status}`);
}
