/*
 * Stores the user's local changes as a commit while the working tree follows a sealed commit, and merges them
 * back.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { namePaths, printable } from '../../core/base/printable.ts';
import { createCommit, mergeCommits } from './create-commit.ts';
import { type DirtyPath, dirtyPaths, filteredPaths, refuseDirty, type Touched } from './dirty-paths.ts';
import { type FollowOutcome, finishFollow, isOnTarget, removeFile } from './follow-target.ts';
import { type GitDirectory, gitFields, gitLine, runGit } from './git.ts';
import {
  askIndex,
  type ChangedEntry,
  changedEntries,
  checkOut,
  type EntrySide,
  keyOf,
  listed,
  mayBeLossy,
  readIndex,
  setEntries,
  toBytePath,
  toIndexInfo,
  toSide,
  toTextPath,
  withIndex,
} from './held-index.ts';
import { askObjects } from './object-reader.ts';
import { encodeId } from './ref-name.ts';
import { listRefs, readRef, updateRefs } from './refs.ts';
import { type Repository, runsDirectory } from './repository.ts';
import { treeOf } from './resolve-commit.ts';
import type { Target } from './target.ts';
import { classifyPaths, isBelowFile } from './torn-paths.ts';

const submodule = '160000';
const writer = { name: 'writ', email: 'scheduler@writ.invalid' };

/** What a run does about local changes at paths that its change touches. */
export type LocalChanges = 'stop' | 'set-aside' | 'include';

/** A run that has stored local changes continues with them, unless the user chooses otherwise. */
export async function localChangesOf(
  repo: Repository,
  runId: string,
  choice: LocalChanges | undefined,
): Promise<LocalChanges> {
  return choice ?? ((await readSetAside(repo, runId)) === undefined ? 'stop' : 'set-aside');
}

/**
 * The dirty paths that cannot be set aside: unmerged paths, files where a directory is needed and the reverse,
 * submodules, paths that `--assume-unchanged` or a sparse checkout hides from git, names that are not UTF-8, paths
 * with a filter (writ runs none), and everything before the first commit.
 */
export async function stuckPaths(
  repo: Repository,
  target: Pick<Target, 'expected'>,
  dirty: readonly DirtyPath[],
): Promise<readonly DirtyPath[]> {
  if (dirty.length === 0 || target.expected === undefined) return dirty;
  const records = await gitFields(repo, ['ls-files', '-z', '-v', '-s']);
  // A record is `H 100644 <object> <stage>\t<path>`; set-aside would lose the state of any letter but `H`.
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
    // git indexes no path below a symlink.
    else if (await isBelowFile(repo.root, toBytePath(one.path))) stuck.push(one);
  return stuck;
}

/** Throws WORKTREE_DIRTY if the files cannot be changed with this choice for local changes. */
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

interface SetAsideRequest {
  readonly runId: string;
  /** The commit that the target branch and HEAD are at. */
  readonly base: string;
  readonly paths: readonly string[];
  /** The same content at the same time is the same commit. */
  readonly atMs: number;
}

/**
 * Stores index and files of these paths as a commit that `git stash apply` accepts, and points the ref of the run to
 * it. Its message names the working tree. Untracked files are stored as added files, so that a later merge treats
 * them as such. What a killed process of the same run stored before stays under another ref if it differs. Returns
 * the commit.
 */
export async function storeSetAside(
  repository: Repository,
  { runId, base, paths, atMs }: SetAsideRequest,
): Promise<string> {
  // Content of the user must be on disk before it is removed.
  const repo: Repository = {
    ...repository,
    settings: [...repository.settings, ['core.fsync', 'committed,loose-object,reference']],
  };
  const { staged, worked } = await withIndex(repo, async (index) =>
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
 * Writes two trees with the index of `place`: `base` with the user's index entries at these paths (`indexed`, as
 * `readIndex` returns it), and with the content of the files. git needs the former for its rules on line endings and
 * modes.
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
  const entries = paths.map(toBytePath).map((path) => ({ path, after: toSide(indexed.get(path)) }));
  await runGit(place, ['read-tree', base]);
  await change(['update-index', '-z', '--index-info'], toIndexInfo(place, entries));
  const staged = await gitLine(place, ['write-tree']);
  await change(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], listed(entries));
  return { staged, worked: await gitLine(place, ['write-tree']) };
}

/** Deletes the ref of a run if it still points to `stored`. */
export async function dropSetAside(repo: Repository, runId: string, stored: string): Promise<void> {
  await updateRefs(repo, [{ ref: setAsideRef(runId), old: stored, new: undefined }], `writ: run ${runId}`);
}

/** `kept`: why the local changes are still stored, if they are. */
export type AroundOutcome = FollowOutcome & {
  readonly kept?: { readonly ref: string; readonly why: string };
  /** The stored commit. All its changes are in index and files. */
  readonly merged?: string;
};

/**
 * After the swap, brings index and files to the sealed commit and merges the stored local changes back, unless they
 * are part of that commit (`isIncluded`). The caller deletes the ref once it has recorded `merged`. The same call
 * completes one that was killed. A path whose content is neither stored nor written by writ is never changed. If the
 * commit includes the local changes and there is such a path, the ref stays: it may hold what is left of them.
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
  // A path that a killed process had merged looks changed, but has its final content.
  const changed = left.filter((path) => !merge.paths.has(path));
  return { state: 'followed', ...(changed.length > 0 && { left: changed }), merged: stored };
}

/** Removes the stored content from index and files, at paths where both are still as they were stored. */
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
  await withIndex(repo, async (index) => {
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
    await setEntries(
      index,
      cleared.map(({ path }) => ({ path, after: bases.get(path) })),
    );
    index.keep();
  });
}

/** The paths that have the sealed content with local changes, or why nothing was merged. */
type Merge = { readonly paths: ReadonlySet<string> } | { readonly why: string };

/** Merges the stored changes into index and files, or changes nothing and returns why. */
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
  return withIndex(repo, async (index) => {
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
    // `checkout-index` writes index entries to files: first those of the files, then the staged ones replace them.
    await setEntries(index, worked);
    await checkOut(
      index,
      torn.filter(({ after }) => after !== undefined),
    );
    await setEntries(
      index,
      [...sealedAt.keys()].map((path) => ({ path, after: indexSide(path) })),
    );
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

const prefix = 'refs/writ/set-aside';
const workTreeLabel = 'Work-Tree: ';
const maxCommitBytes = 64 * 1024;

export function setAsideRef(runId: string): string {
  return `${prefix}/${encodeId(runId)}`;
}

/** The commit that holds the local changes of a run; `undefined` if nothing is set aside. */
export function readSetAside(place: GitDirectory, runId: string): Promise<string | undefined> {
  return readRef(place, setAsideRef(runId));
}

/** The line of the commit message that names the working tree. */
function workTreeLine(root: string): string {
  return `${workTreeLabel}${root}`;
}

/** One sentence for each ref that holds local changes: how to restore and how to delete them. */
export async function setAsideNotices(
  repo: Pick<Repository, 'commonDir' | 'root'> & GitDirectory,
): Promise<readonly string[]> {
  const refs = await listRefs(repo, prefix);
  return Promise.all(
    refs.map(async ({ ref, object }) => {
      const name = ref.slice(prefix.length + 1);
      // A run that has ended has no scratch directory.
      const isOpen = existsSync(join(runsDirectory(repo), name, 'scratch'));
      const place = await otherWorkTree(repo, object);
      return setAsideNotice(ref, { ...(isOpen && { openRun: name }), ...(place && { place }) });
    }),
  );
}

export async function setAsideNoticeOf(
  repo: Pick<Repository, 'root'> & GitDirectory,
  runId: string,
): Promise<string | undefined> {
  const object = await readSetAside(repo, runId);
  if (object === undefined) return undefined;
  const place = await otherWorkTree(repo, object);
  return setAsideNotice(setAsideRef(runId), place === undefined ? {} : { place });
}

/**
 * `openRun`: the run, if it has not ended, so that resuming it merges or includes the changes. `place`: the working
 * tree that they belong to, if it is not this one.
 */
export function setAsideNotice(
  ref: string,
  { openRun, place }: { readonly openRun?: string; readonly place?: string } = {},
): string {
  const shown = printable(ref);
  const where = place === undefined ? undefined : quoted(printable(place));
  const resume =
    openRun === undefined
      ? ''
      : `\`writ ${where === undefined ? '' : `--repo ${where} `}resume ${printable(openRun)}\` finishes the run with them; `;
  const of = place === undefined ? '' : ` of the work tree \`${printable(place)}\``;
  const git = where === undefined ? 'git' : `git -C ${where}`;
  return `\`${shown}\` holds local changes${of} that a run set aside: ${resume}\`${git} stash apply ${shown}\` restores them, \`git update-ref -d ${shown}\` deletes them`;
}

/** The working tree that a stored commit names, if it is another one than `root` and still exists. */
async function otherWorkTree(
  repo: Pick<Repository, 'root'> & GitDirectory,
  stored: string,
): Promise<string | undefined> {
  let place: string | undefined;
  await askObjects(repo, {
    names: [stored],
    command: 'contents',
    maxBytes: maxCommitBytes,
    take: (_, object) => {
      if (object?.type !== 'commit' || object.bytes === undefined) return;
      const lines = object.bytes.toString('utf8').split('\n');
      place = lines.find((line) => line.startsWith(workTreeLabel))?.slice(workTreeLabel.length);
    },
  });
  return place !== undefined && place !== repo.root && existsSync(place) ? place : undefined;
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
