import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { namePaths } from '../../core/base/printable.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { fileAt, mayBeLossy, toBytePath, toTextPath } from './byte-path.ts';
import { runGit } from './git.ts';
import { readIndex, toSide } from './index-info.ts';
import type { Repository } from './repository.ts';
import { unchangedPaths } from './torn-paths.ts';

/** Why the working tree cannot take a change at `path`. */
export interface DirtyPath {
  readonly path: string;
  readonly reason: 'staged' | 'modified' | 'unmerged' | 'untracked' | 'obstructed' | 'conflicting';
}

/** A path that a patch writes, moves or removes. */
export type Touched = Pick<PatchFile, 'path' | 'oldPath' | 'changeType' | 'oldMode' | 'newMode'>;

/** These paths, as if a patch changed the files there. */
export function touchedBy(paths: readonly string[]): readonly Touched[] {
  return paths.map((path) => ({ path, changeType: 'modify' }));
}

const maxShown = 20;
const submodule = '160000';

/**
 * Local changes that a patch would run into, none when it is safe: index or file differs from HEAD at a touched path
 * (both sides of a rename), an untracked or ignored file stands where one would be written, a file or symlink stands
 * where a directory is needed or the reverse. Any unmerged path blocks. Reads only: the index is not refreshed on disk.
 */
export async function dirtyPaths(repo: Repository, files: readonly Touched[]): Promise<readonly DirtyPath[]> {
  const touched = new Set(
    files.flatMap((file) => (file.oldPath === undefined ? [file.path] : [file.path, file.oldPath])),
  );
  const found = new Map<string, DirtyPath['reason']>();
  const [status, { tracked, hidden }] = await Promise.all([readStatus(repo), readTracked(repo)]);
  for (const [path, reason] of status) {
    if (reason === 'unmerged' || touched.has(path)) found.set(path, reason);
  }
  const asked = hidden.filter(({ path }) => touched.has(toTextPath(path)));
  for (const path of await hiddenChanges(repo, asked))
    if (!found.has(toTextPath(path))) found.set(toTextPath(path), 'modified');
  const removed = new Set(files.flatMap((file) => removedBy(file)));
  for (const file of files) {
    if (file.changeType === 'delete' || isMovedSubmodule(file)) continue;
    const obstacle = await obstacleTo(repo, file.path, tracked, removed);
    if (obstacle && !found.has(obstacle.path)) found.set(obstacle.path, obstacle.reason);
  }
  return [...found].map(([path, reason]) => ({ path, reason })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Throws WORKTREE_DIRTY, naming the first paths, if `dirtyPaths` finds any. */
export async function requireCleanPaths(repo: Repository, files: readonly Touched[]): Promise<void> {
  refuseDirty(await dirtyPaths(repo, files));
}

/** Throws WORKTREE_DIRTY, naming the first paths, if there are any. */
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
    message: `${named} ${dirty.length === 1 ? 'has' : 'have'} local changes, and the change would write there`,
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
 * git writes another commit into the index and leaves the submodule's own directory to who updates it; one that stands
 * elsewhere is told by `status`.
 */
function isMovedSubmodule({ oldMode, newMode }: Touched): boolean {
  return oldMode === submodule && newMode === submodule;
}

async function readStatus(repo: Repository): Promise<ReadonlyMap<string, DirtyPath['reason']>> {
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    '--untracked-files=no',
    '--ignore-submodules=dirty',
    '--no-ahead-behind',
  ];
  const records = (await runGit(repo, args, { maxBytes: 512 * 1024 * 1024 })).toString('utf8').split('\0');
  const found = new Map<string, DirtyPath['reason']>();
  for (const record of records) {
    const fields = record.split(' ');
    if (fields[0] === '1')
      found.set(fields.slice(8).join(' '), fields[1]?.startsWith('.') ? 'modified' : 'staged');
    else if (fields[0] === 'u') found.set(fields.slice(10).join(' '), 'unmerged');
  }
  return found;
}

interface Tracked {
  readonly tracked: ReadonlySet<string>;
  /** Paths (`byte-path.ts`) whose changes `status` does not show. */
  readonly hidden: readonly HiddenPath[];
}

interface HiddenPath {
  readonly path: string;
  /** `git update-index --skip-worktree`, or a sparse checkout: such a file may be absent. */
  readonly isSkipped: boolean;
}

async function readTracked(repo: Repository): Promise<Tracked> {
  const listed = await runGit(repo, ['ls-files', '-z', '-v'], { maxBytes: 512 * 1024 * 1024 });
  const lines = listed.toString('latin1').split('\0');
  return {
    tracked: new Set(lines.map((line) => toTextPath(line.slice(2)))),
    hidden: lines
      // A small letter is `git update-index --assume-unchanged`.
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

/** True if the name of a file, which is not UTF-8, is the last part of this path once it is text. */
async function isReadAs(repo: Repository, path: string): Promise<boolean> {
  if (!mayBeLossy(path)) return false;
  const above = fileAt(repo.root, toBytePath(dirname(path)));
  const names = await readdir(above, { encoding: 'buffer' }).catch(() => []);
  return names.some((name) => name.toString('utf8') === basename(path));
}

/** A file below a path that is a tracked symlink or file to be removed is not there in its own right. */
function isBelowRemoved(path: string, removed: ReadonlySet<string>): boolean {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) if (removed.has(above)) return true;
  return false;
}

/** A file in the directory that the patch does not delete, if any. */
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
