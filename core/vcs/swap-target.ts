import { askGit } from './git.ts';
import type { Target } from './plan-target.ts';
import { type RefOutcome, updateRefs } from './refs.ts';
import { emptyTreeOf, type Repository } from './repository.ts';
import { readHead } from './resolve-commit.ts';

/** Moves the target ref to the sealed commit by compare-and-swap. `moved: false` is TARGET_MOVED: nothing was changed. */
export async function swapTarget(
  repo: Repository,
  target: Target,
  commit: string,
  message: string,
): Promise<RefOutcome> {
  return updateRefs(repo, [{ ref: target.ref, old: target.expected, new: commit }], message);
}

/** What became of index and files. `failed` leaves them as they were; `reason` says why. */
export type FollowOutcome =
  | { readonly state: 'followed' | 'not-checked-out' }
  | { readonly state: 'failed'; readonly reason: string };

/**
 * After the swap: brings index and files of this work tree from the old to the new commit by a two-tree `read-tree`, where HEAD still is on
 * the target. Local changes elsewhere stay; git refuses to overwrite any.
 */
export async function followWorktree(
  repo: Repository,
  target: Target,
  commit: string,
): Promise<FollowOutcome> {
  const head = await readHead(repo);
  if (!target.checkedOutHere || head.branch !== target.ref) return { state: 'not-checked-out' };
  // A copied or touched file is "not uptodate" to read-tree until its stat data are looked at again; a real change stays one.
  await askGit(repo, ['update-index', '-q', '--refresh']);
  const from = target.expected ?? emptyTreeOf(repo);
  const args = ['read-tree', '-m', '-u', '--no-recurse-submodules', from, commit];
  const { code, stderr } = await askGit(repo, args);
  return code === 0 ? { state: 'followed' } : { state: 'failed', reason: stderr.trim().slice(0, 500) };
}
