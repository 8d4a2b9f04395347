import { namePaths } from '../../core/base/printable.ts';
import { mayBeLossy, toBytePath, toTextPath } from './byte-path.ts';
import { type ChangedEntry, changedEntries, type EntrySide } from './changed-entries.ts';
import { createCommit } from './create-commit.ts';
import { type DirtyPath, dirtyPaths, refuseDirty, type Touched } from './dirty-paths.ts';
import { filteredPaths } from './filtered-paths.ts';
import { finishFollow, removeFile } from './finish-follow.ts';
import { type GitDirectory, gitLine, runGit } from './git.ts';
import { askIndex, keyOf, listed, readIndex, toIndexInfo, toSide } from './index-info.ts';
import { withIndex } from './index-transaction.ts';
import { mergeCommits } from './merge-trees.ts';
import type { Target } from './plan-target.ts';
import { readRef, updateRefs } from './refs.ts';
import { type Repository, zeroIdOf } from './repository.ts';
import { treeOf } from './resolve-commit.ts';
import { readSetAside, setAsideRef, workTreeLine } from './set-aside-refs.ts';
import { type FollowOutcome, isOnTarget } from './swap-target.ts';
import { classifyPaths, isBelowFile } from './torn-paths.ts';

const submodule = '160000';
const maxListBytes = 512 * 1024 * 1024;
const writer = { name: 'writ', email: 'scheduler@writ.invalid' };

/** What a run does about local changes at paths that its change touches. */
export type LocalChanges = 'stop' | 'set-aside' | 'include';

/** The choice for a run: one that has stored local changes before goes on with them unless the user says otherwise. */
export async function localChangesOf(
  repo: Repository,
  runId: string,
  choice: LocalChanges | undefined,
): Promise<LocalChanges> {
  return choice ?? ((await readSetAside(repo, runId)) === undefined ? 'stop' : 'set-aside');
}

/**
 * The dirty paths that cannot be set aside: unmerged paths, files where a directory is needed and the reverse, and
 * submodules, paths that `--assume-unchanged` or a sparse checkout hides from git, names that are not UTF-8, paths that
 * go through a filter (writ runs none), and everything before the first commit.
 */
export async function stuckPaths(
  repo: Repository,
  target: Pick<Target, 'expected'>,
  dirty: readonly DirtyPath[],
): Promise<readonly DirtyPath[]> {
  if (dirty.length === 0 || target.expected === undefined) return dirty;
  const listing = await runGit(repo, ['ls-files', '-z', '-v', '-s'], { maxBytes: maxListBytes });
  const records = listing.toString('utf8').split('\0');
  // A record: `H 100644 <object> <stage>\t<path>`; another letter than `H` is a state that set-aside would lose.
  const lost = new Set(
    records
      .filter((record) => record !== '' && (!record.startsWith('H ') || record.startsWith(`H ${submodule}`)))
      .map((record) => record.slice(record.indexOf('\t') + 1)),
  );
  const filtered = await filteredPaths(
    repo,
    dirty.map(({ path }) => path),
  );
  for (const { path } of filtered) lost.add(path);
  const stuck: DirtyPath[] = [];
  for (const one of dirty)
    if (['unmerged', 'obstructed'].includes(one.reason) || lost.has(one.path) || mayBeLossy(one.path))
      stuck.push(one);
    // git indexes nothing beyond a symlink.
    else if (await isBelowFile(repo.root, toBytePath(one.path))) stuck.push(one);
  return stuck;
}

/** Throws WORKTREE_DIRTY if the files cannot be changed with this choice for local changes at their paths. */
export async function requireLandable(
  repo: Repository,
  target: Pick<Target, 'expected'>,
  files: readonly Touched[],
  choice: LocalChanges = 'stop',
): Promise<void> {
  const dirty = await dirtyPaths(repo, files);
  const stuck = await stuckPaths(repo, target, dirty);
  if (stuck.length === 0) return choice === 'stop' ? refuseDirty(dirty) : undefined;
  const named = namePaths(stuck.map(({ path }) => path));
  refuseDirty(choice === 'stop' ? dirty : stuck, {
    hints: [
      `writ can neither include nor set aside the local changes at ${named}: commit or stash them (of a submodule: \`git submodule update\`; of a file with a filter, \`git status\` may find that there are none), then start or resume the run`,
    ],
  });
}

export interface SetAsideRequest {
  readonly runId: string;
  /** The commit that the target branch and HEAD are at. */
  readonly base: string;
  readonly paths: readonly string[];
  /** Time of the commits: the same content at the same time is the same commit. */
  readonly atMs: number;
}

/**
 * Stores index and files of these paths as a commit that `git stash apply` accepts, and points the ref of the run to
 * it. Its message names the work tree. Changes nothing else. Untracked files are in the commit as added files, so that
 * a later merge treats them as such. What a killed process of the same run stored before its branch moved stays under
 * another ref if it differs. Returns the commit.
 */
export async function storeSetAside(
  repository: Repository,
  { runId, base, paths, atMs }: SetAsideRequest,
): Promise<string> {
  // Nothing of the user may be removed before it is on disk.
  const repo: Repository = {
    ...repository,
    settings: [...repository.settings, ['core.fsync', 'committed,loose-object,reference']],
  };
  const { staged, worked } = await withIndex(repo, {}, async (index) =>
    writeLocalTrees(index.repo, { base, paths, indexed: await readIndex(index.repo) }, (args, input) =>
      askIndex(index, args, input),
    ),
  );
  const message = `writ: local changes set aside by run ${runId}\n\n${workTreeLine(repo.root)}\n`;
  const commit = (tree: string, parents: readonly string[], message: string): Promise<string> =>
    createCommit(repo, {
      tree,
      parents,
      message,
      author: writer,
      committer: writer,
      authoredAtMs: atMs,
      committedAtMs: atMs,
    });
  const stagedCommit = await commit(staged, [base], `writ: staged changes set aside by run ${runId}\n`);
  const stored = await commit(worked, [base, stagedCommit], message);
  const ref = setAsideRef(runId);
  const old = await readRef(repo, ref);
  if (old === stored) return stored;
  // The user may have relied on the earlier ref: it stays under another name.
  const earlier = `${ref}-${old?.slice(0, 12)}`;
  const isNew = old !== undefined && (await readRef(repo, earlier)) === undefined;
  const kept = isNew ? [{ ref: earlier, old: undefined, new: old }] : [];
  const outcome = await updateRefs(repo, [...kept, { ref, old, new: stored }], `writ: run ${runId}`);
  if (!outcome.moved) throw new Error(`\`${ref}\` was changed by another process`);
  return stored;
}

/**
 * Writes two trees with the index of `place`: `base` with what the user's index holds at these paths (`indexed`, as
 * `readIndex` returns it), and with what the files hold. git needs the former for its rules on line endings and modes.
 */
export async function writeLocalTrees(
  place: GitDirectory,
  {
    base,
    paths,
    indexed,
  }: {
    readonly base: string;
    readonly paths: readonly string[];
    readonly indexed: ReadonlyMap<string, string>;
  },
  change: (args: readonly string[], input: string) => Promise<void>,
): Promise<{ readonly staged: string; readonly worked: string }> {
  const zero = zeroIdOf(place);
  const entries = paths.map(toBytePath).map((path) => ({ path, after: toSide(indexed.get(path)) }));
  await runGit(place, ['read-tree', base]);
  const info = entries.map((entry) => toIndexInfo(entry, zero)).join('');
  await change(['update-index', '-z', '--index-info'], info);
  const staged = await gitLine(place, ['write-tree']);
  await change(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], listed(entries));
  return { staged, worked: await gitLine(place, ['write-tree']) };
}

/** Deletes the ref of a run if it still points to `stored`. */
export async function dropSetAside(repo: Repository, runId: string, stored: string): Promise<void> {
  await updateRefs(repo, [{ ref: setAsideRef(runId), old: stored, new: undefined }], `writ: run ${runId}`);
}

/** What became of files and index, and of the local changes: why they are still stored, if they are. */
export type AroundOutcome = FollowOutcome & {
  readonly kept?: { readonly ref: string; readonly why: string };
  /** The stored commit whose changes are all in index and files. */
  readonly merged?: string;
};

/**
 * After the swap: brings index and files to the sealed commit and merges the stored local changes back into them,
 * unless they are part of that commit (`isIncluded`). The caller deletes the ref once it has recorded that they are
 * `merged`. A call with the same arguments completes one that was killed. A path whose content is neither stored nor
 * written by writ is never changed. If the commit includes the local changes and there is such a path, the ref stays:
 * the content at the path can be what remains of them.
 */
export async function followAround(
  repo: Repository,
  target: Target,
  commit: string,
  {
    runId,
    stored,
    isIncluded,
  }: { readonly runId: string; readonly stored: string; readonly isIncluded: boolean },
): Promise<AroundOutcome> {
  if (await isOnTarget(repo, target)) await clearStored(repo, stored);
  const followed = await finishFollow(repo, target, commit);
  const ref = setAsideRef(runId);
  if (followed.state === 'failed') return { ...followed, kept: { ref, why: followed.reason } };
  if (followed.state === 'not-checked-out')
    return { ...followed, kept: { ref, why: 'the branch is not checked out here any more' } };
  const { left = [] } = followed;
  if (isIncluded)
    return left.length === 0
      ? { ...followed, merged: stored }
      : { ...followed, kept: { ref, why: `${namePaths(left)} was changed meanwhile` } };
  const merge = await mergeBack(repo, commit, stored);
  if ('why' in merge) return { ...followed, kept: { ref, why: merge.why } };
  // What a process that was killed had merged already looks changed, and is what it shall be.
  const changed = left.filter((path) => !merge.paths.has(path));
  return { state: 'followed', ...(changed.length > 0 && { left: changed }), merged: stored };
}

/** Takes the stored content out of index and files, at paths where both still are as they were stored. */
async function clearStored(repo: Repository, stored: string): Promise<void> {
  const [staged, worked] = await Promise.all([
    changedEntries(repo, `${stored}^1`, `${stored}^2`, 'latin1'),
    changedEntries(repo, `${stored}^1`, stored, 'latin1'),
  ]);
  const bases = new Map([...staged, ...worked].map(({ path, before }) => [path, before]));
  const stagedAt = sidesOf(staged);
  const workedAt = sidesOf(worked);
  const sideOf = (
    changed: ReadonlyMap<string, EntrySide | undefined>,
    path: string,
  ): EntrySide | undefined => (changed.has(path) ? changed.get(path) : bases.get(path));
  await withIndex(repo, {}, async (index) => {
    const found = await readIndex(index.repo);
    const entries = [...bases.keys()].map((path) => {
      const side = sideOf(workedAt, path);
      return { path, before: side, after: side };
    });
    const states = await classifyPaths(repo, entries);
    const cleared = entries.filter(
      ({ path }) =>
        ['done', 'absent'].includes(states.get(path) ?? '') &&
        [keyOf(sideOf(stagedAt, path)), keyOf(bases.get(path))].includes(found.get(path) ?? ''),
    );
    for (const { path } of cleared)
      if (states.get(path) === 'done' && workedAt.has(path)) await removeFile(repo.root, path);
    const zero = zeroIdOf(repo);
    const info = cleared.map(({ path }) => toIndexInfo({ path, after: bases.get(path) }, zero));
    await askIndex(index, ['update-index', '-z', '--index-info'], info.join(''));
    index.keep();
  });
}

/** The paths that hold the sealed content with local changes, or why nothing was merged. */
type Merge = { readonly paths: ReadonlySet<string> } | { readonly why: string };

/** Merges the stored changes into index and files, or changes nothing and answers why. */
async function mergeBack(repo: Repository, commit: string, stored: string): Promise<Merge> {
  const files = await mergeCommits(repo, commit, stored);
  if (files.conflicts) return { why: conflictIn(files.conflicts) };
  const staged = await mergeCommits(repo, commit, `${stored}^2`);
  if (staged.conflicts) return { why: conflictIn(staged.conflicts) };
  const tree = await treeOf(repo, commit);
  const [worked, indexed] = await Promise.all([
    changedEntries(repo, tree, files.tree, 'latin1'),
    changedEntries(repo, tree, staged.tree, 'latin1'),
  ]);
  const sealedAt = new Map([...worked, ...indexed].map(({ path, before }) => [path, before]));
  const indexedAt = sidesOf(indexed);
  return withIndex(repo, {}, async (index) => {
    const found = await readIndex(index.repo);
    const indexSide = (path: string): EntrySide | undefined =>
      indexedAt.has(path) ? indexedAt.get(path) : sealedAt.get(path);
    const states = await classifyPaths(repo, worked);
    const left = [...sealedAt].find(
      ([path, sealed]) =>
        states.get(path) === 'left' ||
        ![keyOf(sealed), keyOf(indexSide(path))].includes(found.get(path) ?? ''),
    );
    if (left !== undefined) return { why: `${namePaths([toTextPath(left[0])])} was changed meanwhile` };
    const torn = worked.filter(({ path }) => states.get(path) !== 'done');
    for (const { path, after } of torn)
      if (after === undefined && states.get(path) === 'ours') await removeFile(repo.root, path);
    const zero = zeroIdOf(repo);
    const write = (entries: readonly Pick<ChangedEntry, 'path' | 'after'>[]): Promise<void> =>
      askIndex(
        index,
        ['update-index', '-z', '--index-info'],
        entries.map((one) => toIndexInfo(one, zero)).join(''),
      );
    // `checkout-index` writes what the index holds: first what the files shall be, then what is staged.
    await write(worked);
    const coming = torn.filter(({ after }) => after !== undefined);
    await askIndex(index, ['checkout-index', '--force', '-u', '-z', '--stdin'], listed(coming));
    await write([...sealedAt.keys()].map((path) => ({ path, after: indexSide(path) })));
    await index.ask(['update-index', '-q', '--refresh']);
    index.keep();
    return { paths: new Set([...sealedAt.keys()].map(toTextPath)) };
  });
}

function sidesOf(entries: readonly ChangedEntry[]): ReadonlyMap<string, EntrySide | undefined> {
  return new Map(entries.map(({ path, after }) => [path, after]));
}

function conflictIn(paths: readonly string[]): string {
  return `${namePaths(paths)} would conflict with the sealed change`;
}
