import { withIndex } from './index-transaction.ts';
import type { Target } from './plan-target.ts';
import { type RefOutcome, updateRefs } from './refs.ts';
import { emptyTreeOf, type Repository } from './repository.ts';
import { readHead } from './resolve-commit.ts';

/**
 * Moves the target ref to the sealed commit by compare-and-swap. `moved: false` is TARGET_MOVED: nothing was changed. A
 * ref that is on the commit is `already` moved: an earlier process was stopped behind the swap. `held`: another branch
 * that must stand where it is said to, at that moment.
 */
export async function swapTarget(
  repo: Repository,
  target: Target,
  commit: string,
  message: string,
  held?: { readonly ref: string; readonly commit: string },
): Promise<RefOutcome> {
  const update = { ref: target.ref, old: target.expected, new: commit };
  const stays = held === undefined || held.ref === target.ref ? [] : [held];
  const holds = stays.map(({ ref, commit: at }) => ({ ref, old: at, new: at }));
  const outcome = await updateRefs(repo, [update, ...holds], message);
  if (outcome.moved) return outcome;
  const isThere = outcome.stale.some(({ ref, found }) => ref === target.ref && found === commit);
  if (!isThere) return outcome;
  return { moved: true, already: true };
}

/**
 * What became of index and files. `failed` leaves them as they were; `reason` says why. `left`: paths with changes of
 * the user's, which were not touched.
 */
export type FollowOutcome =
  | { readonly state: 'followed'; readonly left?: readonly string[] }
  | { readonly state: 'not-checked-out' }
  | { readonly state: 'failed'; readonly reason: string };

/**
 * After the swap: brings index and files of this work tree from the old to the new commit by a two-tree `read-tree`,
 * where HEAD still is on the target. Local changes elsewhere stay; git refuses to overwrite any. Where an earlier
 * process was stopped in it, `finishFollow` goes on.
 */
export async function followWorktree(
  repo: Repository,
  target: Target,
  commit: string,
): Promise<FollowOutcome> {
  if (!(await isOnTarget(repo, target))) return { state: 'not-checked-out' };
  return withIndex(repo, {}, async (index) => {
    // A copied or touched file is "not uptodate" to read-tree until its stat data are looked at again; a real change
    // stays one.
    await index.ask(['update-index', '-q', '--refresh']);
    const from = target.expected ?? emptyTreeOf(repo);
    const { code, stderr } = await index.ask([
      'read-tree',
      '-m',
      '-u',
      '--no-recurse-submodules',
      from,
      commit,
    ]);
    if (code !== 0) return { state: 'failed', reason: stderr.trim().slice(0, 500) };
    index.keep();
    return { state: 'followed' };
  });
}

/** True where this work tree has to follow: HEAD was and is on the target. */
export async function isOnTarget(repo: Repository, target: Target): Promise<boolean> {
  return target.checkedOutHere && (await readHead(repo)).branch === target.ref;
}
