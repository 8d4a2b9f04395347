/* Finds local changes in the working tree that a change would overwrite. */
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { namePaths } from '../../core/base/printable.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { askGit, type GitDirectory, gitFailed, gitFields, maxListBytes, runGit } from './git.ts';
import {
  changedEntries,
  fileAt,
  keyOf,
  mayBeLossy,
  readIndex,
  toBytePath,
  toSide,
  toTextPath,
} from './held-index.ts';
import type { Repository } from './repository.ts';
import { unchangedPaths } from './torn-paths.ts';

/** Why a change cannot be written at `path`. */
export interface DirtyPath {
  readonly path: string;
  readonly reason: 'staged' | 'modified' | 'unmerged' | 'untracked' | 'obstructed' | 'conflicting';
}

export type Touched = Pick<PatchFile, 'path' | 'oldPath' | 'changeType' | 'oldMode' | 'newMode' | 'newBlob'>;

/** What replacing one tree by another writes. */
export async function touchedBetween(
  place: GitDirectory,
  before: string,
  after: string,
): Promise<readonly Touched[]> {
  return (await changedEntries(place, before, after)).map(({ path, before: old, after: now }): Touched => {
    return {
      path,
      changeType: now === undefined ? 'delete' : old === undefined ? 'add' : 'modify',
      ...(old === undefined ? {} : { oldMode: old.mode }),
      ...(now === undefined ? {} : { newMode: now.mode, newBlob: now.object }),
    };
  });
}

export function touchedBy(paths: readonly string[]): readonly Touched[] {
  return paths.map((path) => ({ path, changeType: 'modify' }));
}

const maxShown = 20;
const submodule = '160000';

/**
 * Local changes that a patch would overwrite: index or file differs from HEAD at a touched path (both sides of a
 * rename), an untracked or ignored file is where one would be written, or a file is where a directory is needed or
 * the reverse. Any unmerged path counts. A path whose index entry is what the patch writes does not count: git keeps
 * its entry and its file as they are. The index on disk is not refreshed.
 */
export async function dirtyPaths(repo: Repository, files: readonly Touched[]): Promise<readonly DirtyPath[]> {
  const touched = new Set(
    files.flatMap((file) => (file.oldPath === undefined ? [file.path] : [file.path, file.oldPath])),
  );
  const found = new Map<string, DirtyPath['reason']>();
  const [status, { tracked, hidden }] = await Promise.all([readStatus(repo), readTracked(repo)]);
  const results = resultsOf(files);
  for (const [path, { reason, staged }] of status) {
    if (
      reason === 'unmerged' ||
      (touched.has(path) && (staged === undefined || results.get(path) !== staged))
    )
      found.set(path, reason);
  }
  const hiddenHere = hidden.filter(({ path }) => touched.has(toTextPath(path)));
  for (const path of await hiddenChanges(repo, hiddenHere))
    if (!found.has(toTextPath(path))) found.set(toTextPath(path), 'modified');
  const removed = new Set(files.flatMap((file) => removedBy(file)));
  for (const file of files) {
    if (file.changeType === 'delete' || isMovedSubmodule(file)) continue;
    const obstacle = await obstacleTo(repo, file.path, tracked, removed);
    if (obstacle && !found.has(obstacle.path)) found.set(obstacle.path, obstacle.reason);
  }
  return [...found].map(([path, reason]) => ({ path, reason })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Throws `dirtyFault` if there are any. */
export function refuseDirty(
  dirty: readonly DirtyPath[],
  more: { readonly hints?: readonly string[] } = {},
): void {
  if (dirty.length > 0) throw dirtyFault(dirty, more);
}

/** WORKTREE_DIRTY, naming the first of these paths. */
export function dirtyFault(
  dirty: readonly DirtyPath[],
  more: { readonly hints?: readonly string[] } = {},
): WritError {
  const shown = dirty.slice(0, maxShown);
  const named = namePaths(dirty.map(({ path }) => path));
  return new WritError('WORKTREE_DIRTY', {
    message: `${named} ${dirty.length === 1 ? 'has' : 'have'} uncommitted changes, and the patch changes the same files`,
    detail: {
      count: dirty.length,
      paths: shown,
      expected: 'no local changes where the patch writes',
      found: shown.map(({ path, reason }) => `${path} (${reason})`),
    },
    ...more,
  });
}

function removedBy(file: Touched): readonly string[] {
  if (file.changeType === 'delete') return [file.path];
  return file.changeType === 'rename' && file.oldPath !== undefined ? [file.oldPath] : [];
}

/**
 * git writes the other commit into the index and leaves the directory of the submodule alone; `status` reports a
 * submodule that is at another commit.
 */
function isMovedSubmodule({ oldMode, newMode }: Touched): boolean {
  return oldMode === submodule && newMode === submodule;
}

/** What a patch leaves at each path that it writes or removes, as `LocalStatus.staged`; '' for nothing. */
function resultsOf(files: readonly Touched[]): ReadonlyMap<string, string> {
  return new Map(
    files.flatMap((file): readonly (readonly [string, string])[] => {
      const { path, changeType, newMode = '', newBlob } = file;
      const removed = removedBy(file).map((gone) => [gone, ''] as const);
      // Without the object it is not known what will be written.
      if (changeType === 'delete' || newBlob === undefined) return removed;
      return [...removed, [path, keyOf({ mode: newMode, object: newBlob })]];
    }),
  );
}

interface LocalStatus {
  readonly reason: DirtyPath['reason'];
  /** The index entry as `keyOf` returns it, where it differs from HEAD: '' for a removed path. */
  readonly staged?: string;
}

async function readStatus(repo: Repository): Promise<ReadonlyMap<string, LocalStatus>> {
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    '--untracked-files=no',
    '--ignore-submodules=dirty',
    '--no-ahead-behind',
  ];
  const records = await gitFields(repo, args);
  const found = new Map<string, LocalStatus>();
  for (const record of records) {
    // `1 <XY> <submodule> <mode at HEAD> <in the index> <of the file> <object at HEAD> <in the index> <path>`
    const fields = record.split(' ');
    const [kind, states, , , mode = '', , , object = ''] = fields;
    const path = fields.slice(8).join(' ');
    if (kind === '1' && states?.startsWith('.')) found.set(path, { reason: 'modified' });
    else if (kind === '1') {
      const staged = states?.startsWith('D') ? '' : keyOf({ mode, object });
      found.set(path, { reason: 'staged', staged });
    } else if (kind === 'u') found.set(fields.slice(10).join(' '), { reason: 'unmerged' });
  }
  return found;
}

interface Tracked {
  readonly tracked: ReadonlySet<string>;
  /** Paths as bytes with changes that `status` does not show. */
  readonly hidden: readonly HiddenPath[];
}

interface HiddenPath {
  readonly path: string;
  /** `git update-index --skip-worktree`, or a sparse checkout: such a file may be absent. */
  readonly isSkipped: boolean;
}

async function readTracked(repo: Repository): Promise<Tracked> {
  const lines = await gitFields(repo, ['ls-files', '-z', '-v'], 'latin1');
  return {
    tracked: new Set(lines.map((line) => toTextPath(line.slice(2)))),
    hidden: lines
      // A lower-case letter is `git update-index --assume-unchanged`.
      .filter((line) => /^[a-zS] /.test(line))
      .map((line) => ({ path: line.slice(2), isSkipped: /^s/i.test(line) })),
  };
}

/** Those of the hidden paths at which the file differs from the index. */
async function hiddenChanges(repo: Repository, hidden: readonly HiddenPath[]): Promise<readonly string[]> {
  if (hidden.length === 0) return [];
  const indexed = await readIndex(repo);
  const sides = hidden.map(({ path }) => ({ path, after: toSide(indexed.get(path)) }));
  const same = await unchangedPaths(repo, sides);
  const changed: string[] = [];
  for (const { path, isSkipped } of hidden) {
    if (same.has(path)) continue;
    const isThere = await lstat(fileAt(repo.root, path)).then(
      () => true,
      () => false,
    );
    if (isThere || !isSkipped) changed.push(path);
  }
  return changed;
}

async function obstacleTo(
  repo: Repository,
  path: string,
  tracked: ReadonlySet<string>,
  removed: ReadonlySet<string>,
): Promise<DirtyPath | undefined> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const found = await lstat(join(repo.root, above)).catch(() => undefined);
    if (found !== undefined && !found.isDirectory() && !removed.has(above))
      return { path: above, reason: 'obstructed' };
  }
  const found = await lstat(join(repo.root, path)).catch(() => undefined);
  if (found === undefined && !(await isReadAs(repo, path))) return undefined;
  if (found?.isDirectory()) {
    const kept = await findKept(repo, path, removed);
    return kept === undefined ? undefined : { path: kept, reason: 'obstructed' };
  }
  return tracked.has(path) || isBelowRemoved(path, removed) ? undefined : { path, reason: 'untracked' };
}

/** True if a name that is not UTF-8 becomes the last part of this path when it is decoded. */
async function isReadAs(repo: Repository, path: string): Promise<boolean> {
  if (!mayBeLossy(path)) return false;
  const above = fileAt(repo.root, toBytePath(dirname(path)));
  const names = await readdir(above, { encoding: 'buffer' }).catch(() => []);
  return names.some((name) => name.toString('utf8') === basename(path));
}

/** A file below a symlink or file that the patch removes is not a file of the working tree. */
function isBelowRemoved(path: string, removed: ReadonlySet<string>): boolean {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) if (removed.has(above)) return true;
  return false;
}

async function findKept(
  repo: Repository,
  directory: string,
  removed: ReadonlySet<string>,
): Promise<string | undefined> {
  for (const entry of await readdir(join(repo.root, directory), { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    const kept = entry.isDirectory()
      ? await findKept(repo, path, removed)
      : removed.has(path)
        ? undefined
        : path;
    if (kept !== undefined) return kept;
  }
  return undefined;
}

interface FilteredPath {
  readonly path: string;
  readonly filter: string;
}

/** The paths that a configured filter driver (Git LFS, git-crypt) would convert; writ runs none. */
export async function filteredPaths(
  repo: Repository,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<readonly FilteredPath[]> {
  const drivers = new Set(repo.settings.flatMap(([key]) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []));
  if (drivers.size === 0 || paths.length === 0) return [];
  const input = paths.map((path) => `${path}\0`).join('');
  const args = ['check-attr', '-z', '--stdin', 'filter'];
  const answer = await runGit(repo, args, { input, maxBytes: maxListBytes, ...(signal && { signal }) });
  const fields = answer.toString('utf8').split('\0');
  const found: FilteredPath[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', filter = ''] = [fields[at], fields[at + 2]];
    if (drivers.has(filter)) found.push({ path, filter });
  }
  return found;
}

/**
 * A digest of HEAD and of all changes in the working tree that git does not ignore. GIT_FAILED if there are more than
 * can be listed.
 */
export async function workspaceFingerprint(repository: Repository): Promise<string> {
  const args = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'];
  const records = await gitFields(repository, [...args, '--untracked-files=all']);
  const seen: string[] = [];
  for (const record of records) {
    const path = pathOf(record);
    // writ's own files are not changes of the user.
    if (record.startsWith('? .writ/')) continue;
    seen.push(record);
    if (path !== undefined) seen.push(await stateOf(join(repository.root, path)));
  }
  return sha256Hex(seen.join('\0'));
}

function pathOf(record: string): string | undefined {
  const fields = { 1: 8, u: 10, '?': 1, 2: 9 } as const;
  const [kind = ''] = record.split(' ', 1);
  const from = (fields as Readonly<Record<string, number>>)[kind];
  return from === undefined ? undefined : record.split(' ').slice(from).join(' ');
}

/** Differs after every write: the change time cannot be set. */
async function stateOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? 'gone' : `${found.mode} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** True if git ignores `path` in the working tree and tracks nothing at or below it. */
export async function isIgnoredPath(repo: Repository, path: string): Promise<boolean> {
  // `check-ignore` does not know literal pathspecs; behind `./` no character is special.
  const args = ['check-ignore', '--quiet', '--', `./${path}`];
  const { code, stderr } = await askGit(repo, args, { env: { GIT_LITERAL_PATHSPECS: '0' } });
  if (code > 1) throw gitFailed(args, code, stderr);
  if (code === 1) return false;
  const tracked = await runGit(repo, ['ls-files', '-z', '--cached', '--', path]);
  return tracked.length === 0;
}
