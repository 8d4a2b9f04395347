import { WritError } from '../../core/base/errors.ts';
import { writeCommit } from './create-commit.ts';
import { askGit, type GitDirectory, gitFailed } from './git.ts';
import { isObjectId } from './repository.ts';
import type { Scratch } from './scratch.ts';

/** One tree, or the paths that stand in the way of one. */
export type MergeOutcome =
  | { readonly tree: string; readonly conflicts?: undefined }
  | { readonly tree?: undefined; readonly conflicts: readonly string[] };

const nobody = { name: 'writ', email: 'scheduler@writ.invalid' };

/**
 * Merges what was done to `base` on two sides, without a work tree, a ref or an index; objects stay in `place`. Paths
 * of conflicts in git's order. The trees are given as commits made for the purpose: git before 2.40 takes no other
 * merge base.
 */
export async function mergeTrees(
  place: Scratch,
  base: string,
  ours: string,
  theirs: string,
): Promise<MergeOutcome> {
  if (ours === base || ours === theirs) return { tree: theirs };
  if (theirs === base) return { tree: ours };
  const commit = (tree: string, parents: readonly string[], message: string): Promise<string> =>
    writeCommit(
      place,
      { tree, parents, message, author: nobody, committer: nobody, authoredAtMs: 0, committedAtMs: 0 },
      false,
    );
  const root = await commit(base, [], 'base');
  // Two sides with the same tree would be one commit, but for their messages.
  const [left, right] = await Promise.all([commit(ours, [root], 'ours'), commit(theirs, [root], 'theirs')]);
  return mergeCommits(place, left, right);
}

/** Merges two commits without a work tree, a ref or an index; objects stay in `place`. */
export async function mergeCommits(place: GitDirectory, left: string, right: string): Promise<MergeOutcome> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', left, right];
  const { code, stdout, stderr } = await askGit(place, args);
  const [tree = '', ...paths] = stdout.toString('utf8').split('\0');
  if (code === 0 && isObjectId(tree)) return { tree };
  if (code === 1) return { conflicts: [...new Set(paths.filter((path) => path !== ''))] };
  if (code !== 129) throw gitFailed(args, code, stderr);
  throw new WritError('GIT_FAILED', {
    message: 'this git cannot merge without a work tree',
    detail: { command: 'merge-tree', exitCode: code, stderr },
    hints: ['install git 2.38 or newer', 'or rebase the change onto the tip first: then nothing is merged'],
  });
}
