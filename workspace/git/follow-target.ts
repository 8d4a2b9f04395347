/* Moves the target branch to a sealed commit and brings index and files to it, also after a kill. */
import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { dirtyPaths, type Touched } from './dirty-paths.ts';
import { gitFields } from './git.ts';
import {
  askIndex,
  type ChangedEntry,
  changedEntries,
  checkOut,
  type EntrySide,
  fileAt,
  type HeldIndex,
  keyOf,
  listed,
  readIndex,
  setEntries,
  toTextPath,
  withIndex,
} from './held-index.ts';
import { settleGit } from './locks.ts';
import { type RefOutcome, updateRefs } from './refs.ts';
import { emptyTreeOf, type Repository } from './repository.ts';
import { readHead } from './resolve-commit.ts';
import type { Target } from './target.ts';
import { classifyPaths } from './torn-paths.ts';

/**
 * Moves the target ref to the sealed commit by compare-and-swap. `moved: false` is TARGET_MOVED, without any change.
 * `already`: an earlier process moved it before it was killed. `held`: another branch that must be at this commit at
 * that moment.
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
 * The result for index and files. `failed`: both are as before. `left`: paths with changes of the user, which were
 * not touched. `unfiltered`: paths that have the stored form, because writ runs no filter driver of git.
 */
export type FollowOutcome =
  | { readonly state: 'followed'; readonly left?: readonly string[]; readonly unfiltered?: readonly string[] }
  | { readonly state: 'not-checked-out' }
  | { readonly state: 'failed'; readonly reason: string };

/**
 * After the swap, brings index and files of this working tree to the new commit with a two-tree `read-tree`, if HEAD
 * is still on the target. Other local changes stay; git refuses to overwrite any. `finishFollow` completes one that
 * was killed.
 */
export async function followWorktree(
  repo: Repository,
  target: Target,
  commit: string,
): Promise<FollowOutcome> {
  if (!(await isOnTarget(repo, target))) return { state: 'not-checked-out' };
  return withIndex(repo, async (index) => {
    // read-tree refuses a copied or touched file as "not uptodate" until its stat data are refreshed; a real change
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

/** True if this working tree has to follow: HEAD was and is on the target. */
export async function isOnTarget(repo: Repository, target: Target): Promise<boolean> {
  return target.checkedOutHere && (await readHead(repo)).branch === target.ref;
}

const submoduleMode = '160000';

/**
 * Completes a `followWorktree` that was killed at any instant. A path is brought to the new commit, with its index
 * entry, if its content is the old one, the new one, a part of it or missing. All other content is the user's and
 * stays, and so does a path whose new entry the user had staged. This call may be killed and repeated too.
 */
export async function finishFollow(repo: Repository, target: Target, commit: string): Promise<FollowOutcome> {
  // A read-tree that outlived its writ may still be writing.
  await settleGit(repo);
  if (!(await isOnTarget(repo, target))) return { state: 'not-checked-out' };
  const changes = await changedEntries(repo, target.expected ?? emptyTreeOf(repo), commit, 'latin1');
  if ((await readHead(repo)).commit !== commit) {
    const touched = changes.map(({ path, after }): Touched => {
      return { path: toTextPath(path), changeType: after === undefined ? 'delete' : 'modify' };
    });
    // The user committed on top of ours, and index and files agree with that commit.
    if ((await dirtyPaths(repo, touched)).length === 0) return { state: 'followed' };
    return { state: 'failed', reason: `\`${target.ref}\` has moved on since` };
  }
  return withIndex(repo, async (index) => {
    const staged = await readIndex(index.repo);
    const entryAt = (path: string): string => staged.get(path) ?? '';
    // The index replaces the old one after the files are written: where it has the new entry, nothing is left to do.
    const open = changes.filter(({ path, after }) => entryAt(path) !== keyOf(after));
    const isOurs = ({ path, before }: ChangedEntry): boolean => entryAt(path) === keyOf(before);
    const hidden = await hiddenPaths(index);
    const ours = open.filter(isOurs);
    const files = ours.filter(
      ({ path, before, after }) => !hidden.has(path) && isFile(before) && isFile(after),
    );
    // Removals first: a file may be where a directory is needed, or the reverse.
    const gone = files.filter(({ after }) => after === undefined);
    const removed = await classifyPaths(repo, gone);
    for (const { path } of gone) if (removed.get(path) === 'ours') await removeFile(repo.root, path);
    const coming = files.filter(({ after }) => after !== undefined);
    const states = await classifyPaths(repo, coming);

    await setEntries(index, ours);
    const kept = ours.filter(({ path, after }) => after !== undefined && hidden.has(path));
    await askIndex(index, ['update-index', '-z', '--skip-worktree', '--stdin'], listed(kept));
    const torn = coming.filter(({ path }) => ['ours', 'absent'].includes(states.get(path) ?? ''));
    await checkOut(index, torn);
    // Its exit code only reports that some files differ, such as changes of the user.
    await index.ask(['update-index', '-q', '--refresh']);
    index.keep();
    const left = open.filter(
      (one) => !isOurs(one) || removed.get(one.path) === 'left' || states.get(one.path) === 'left',
    );
    return left.length === 0
      ? { state: 'followed' }
      : { state: 'followed', left: left.map(({ path }) => toTextPath(path)) };
  });
}

/** Paths that a sparse checkout leaves out of the working tree. */
async function hiddenPaths({ repo }: HeldIndex): Promise<ReadonlySet<string>> {
  const records = await gitFields(repo, ['ls-files', '-t', '-z'], 'latin1');
  return new Set(records.filter((record) => record.startsWith('S ')).map((record) => record.slice(2)));
}

/** Removes a file (path as bytes) and the directories that it leaves empty, as git does. */
export async function removeFile(root: string, path: string): Promise<void> {
  await rm(fileAt(root, path), { force: true });
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const isRemoved = await rmdir(fileAt(root, above)).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

function isFile(side: EntrySide | undefined): boolean {
  return side?.mode !== submoduleMode;
}
