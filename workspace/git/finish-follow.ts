import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileAt, toTextPath } from './byte-path.ts';
import { type ChangedEntry, changedEntries, type EntrySide } from './changed-entries.ts';
import { dirtyPaths, type Touched } from './dirty-paths.ts';
import { runGit } from './git.ts';
import { askIndex, keyOf, listed, readIndex, toIndexInfo } from './index-info.ts';
import { type HeldIndex, withIndex } from './index-transaction.ts';
import type { Target } from './plan-target.ts';
import { emptyTreeOf, type Repository, zeroIdOf } from './repository.ts';
import { readHead } from './resolve-commit.ts';
import { settleGit } from './stale-locks.ts';
import { type FollowOutcome, isOnTarget } from './swap-target.ts';
import { classifyPaths } from './torn-paths.ts';

const submoduleMode = '160000';

/**
 * Takes up a `followWorktree` that was stopped at any instant: every path of the change that stands as it was before,
 * as it shall be, half written or not at all is brought to the new commit, index included. What else stands there is
 * the person's and stays. May itself be stopped and done again; where everything has followed already it changes
 * nothing.
 */
export async function finishFollow(repo: Repository, target: Target, commit: string): Promise<FollowOutcome> {
  // A read-tree that outlived its writ is still writing.
  await settleGit(repo);
  if (!(await isOnTarget(repo, target))) return { state: 'not-checked-out' };
  const changes = await changedEntries(repo, target.expected ?? emptyTreeOf(repo), commit, 'latin1');
  if ((await readHead(repo)).commit !== commit) {
    const touched = changes.map(({ path, after }): Touched => {
      return { path: toTextPath(path), changeType: after === undefined ? 'delete' : 'modify' };
    });
    // A commit on top of ours that index and files agree with: they have followed both.
    if ((await dirtyPaths(repo, touched)).length === 0) return { state: 'followed' };
    return { state: 'failed', reason: `\`${target.ref}\` has moved on since` };
  }
  return withIndex(repo, {}, async (index) => {
    const staged = await readIndex(index.repo);
    const isOurs = ({ path, before, after }: ChangedEntry): boolean => {
      const found = staged.get(path) ?? '';
      return found === keyOf(before) || found === keyOf(after);
    };
    const hidden = await hiddenPaths(index);
    const ours = changes.filter(isOurs);
    const files = ours.filter(
      ({ path, before, after }) => !hidden.has(path) && isFile(before) && isFile(after),
    );
    // First what goes: a file may be where a directory is needed, or the reverse.
    const gone = files.filter(({ after }) => after === undefined);
    const removed = await classifyPaths(repo, gone);
    for (const { path } of gone) if (removed.get(path) === 'ours') await removeFile(repo.root, path);
    const coming = files.filter(({ after }) => after !== undefined);
    const standing = await classifyPaths(repo, coming);

    const stale = ours.filter(({ path, after }) => (staged.get(path) ?? '') !== keyOf(after));
    const zero = zeroIdOf(repo);
    await askIndex(
      index,
      ['update-index', '-z', '--index-info'],
      stale.map((one) => toIndexInfo(one, zero)).join(''),
    );
    const kept = stale.filter(({ path, after }) => after !== undefined && hidden.has(path));
    await askIndex(index, ['update-index', '-z', '--skip-worktree', '--stdin'], listed(kept));
    const torn = coming.filter(({ path }) => ['ours', 'absent'].includes(standing.get(path) ?? ''));
    await askIndex(index, ['checkout-index', '--force', '-u', '-z', '--stdin'], listed(torn));
    // Its exit code says that something differs, which the person's own changes do.
    await index.ask(['update-index', '-q', '--refresh']);
    index.keep();
    const left = changes.filter(
      (one) => !isOurs(one) || removed.get(one.path) === 'left' || standing.get(one.path) === 'left',
    );
    return left.length === 0
      ? { state: 'followed' }
      : { state: 'followed', left: left.map(({ path }) => toTextPath(path)) };
  });
}

/** Paths that a sparse checkout keeps out of the work tree. */
async function hiddenPaths({ repo }: HeldIndex): Promise<ReadonlySet<string>> {
  const listed = await runGit(repo, ['ls-files', '-t', '-z'], { maxBytes: 512 * 1024 * 1024 });
  const records = listed.toString('latin1').split('\0');
  return new Set(records.filter((record) => record.startsWith('S ')).map((record) => record.slice(2)));
}

/** Removes a file (`byte-path.ts`) and the directories that it leaves empty, as git does. */
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
