/* Exports trees into directories for checks and workers, and turns a directory back into a tree. */
import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, copyFile, lstat, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type GitDirectory, type GitSetting, gitLine, isolatedGitEnvironment, runGit } from './git.ts';
import { askObjects } from './object-reader.ts';
import {
  type Borrowable,
  type Scratch,
  type SealedObjects,
  writeGitDirectory,
  writeShallow,
} from './scratch.ts';
import { removeTree } from './torn-paths.ts';
import type { TreeEntry } from './tree.ts';

const maxWorkers = 4;

/**
 * Writes the tree of `treeish` into `dir` (created, expected empty) with its own `.git`. Its HEAD is `headCommit`
 * (unborn without one). There is no filter, line-ending or encoding conversion. Symlinks stay symlinks, submodules
 * become empty directories. `small`: the tree as `readSmallTree` returned it, which saves the process.
 *
 * The `.git` borrows the objects of `objects` and, if that is sealed, records where its history ends. After untrusted
 * code has seen the directory, never run git with this `.git`: its config may have changed.
 */
export async function exportTree(
  objects: GitDirectory & Borrowable & Partial<Pick<SealedObjects, 'shallow'>>,
  treeish: string,
  dir: string,
  headCommit?: string,
  small?: SmallTree,
): Promise<void> {
  const gitDir = join(dir, '.git');
  mkdirSync(dir, { recursive: true });
  writeGitDirectory(gitDir, objects, headCommit ?? 'ref: refs/heads/main', false);
  if (objects.shallow?.length) await writeShallow(gitDir, objects.shallow);
  if (small !== undefined && isWritten(small, dir, gitDir, objects.objectFormat)) return;
  const place = gitOf(dir, objects);
  // git uses them from a hundred files on.
  const workers: GitSetting = ['checkout.workers', String(Math.min(maxWorkers, availableParallelism()))];
  const args = ['read-tree', '--reset', '-u', '--no-recurse-submodules', treeish];
  await runGit({ ...place, settings: [...place.settings, workers] }, args);
}

/** The git of a fresh export. */
export function gitOf(dir: string, { objectFormat }: Pick<GitDirectory, 'objectFormat'>): GitDirectory {
  const gitDir = join(dir, '.git');
  return {
    gitDir,
    objectFormat,
    cwd: dir,
    env: { ...isolatedGitEnvironment, GIT_DIR: gitDir, GIT_WORK_TREE: dir },
    settings: [['core.attributesFile', '/dev/null']],
  };
}

/** False after a fault: git then exports the tree and reports what is wrong. */
function isWritten(...what: Parameters<typeof writeSmallTree>): boolean {
  try {
    writeSmallTree(...what);
    return true;
  } catch {
    return false;
  }
}

export async function removeWorkspace(dir: string): Promise<void> {
  await removeTree(dir);
}

/** Bytes of an index entry before its object id (gitformat-index, version 2). */
const statBytes = 40;
const maxNameLength = 0xfff;

/**
 * Writes a tree into `dir` (empty but for `.git`) as `git read-tree -u` does, with its index. Throws if a path
 * exists. Synchronous: for a small tree, waiting for each call costs more than the call.
 */
function writeSmallTree(
  { entries, directories }: SmallTree,
  dir: string,
  gitDir: string,
  objectFormat: GitDirectory['objectFormat'],
): void {
  for (const directory of directories) mkdirSync(join(dir, directory));
  const rows = entries.map((entry) => {
    const path = join(dir, entry.path);
    if (entry.mode === '120000') symlinkSync(entry.bytes, path);
    else writeFileSync(path, entry.bytes, { flag: 'wx', mode: entry.mode === '100755' ? 0o777 : 0o666 });
    return indexEntry(entry, lstatSync(path, { bigint: true }));
  });
  const header = Buffer.alloc(12);
  header.write('DIRC', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(rows.length, 8);
  const body = Buffer.concat([header, ...rows]);
  const digest = createHash(objectFormat).update(body).digest();
  writeFileSync(join(gitDir, 'index'), Buffer.concat([body, digest]), { flag: 'wx' });
}

function indexEntry({ path, mode, object }: SmallEntry, stat: BigIntStats): Buffer {
  const name = Buffer.from(path);
  const id = Buffer.from(object, 'hex');
  const length = statBytes + id.length + 2 + name.length;
  // One to eight NULs behind the name, up to a multiple of eight.
  const entry = Buffer.alloc((length + 8) & ~7);
  const words = [
    ...[stat.ctimeNs / 1_000_000_000n, stat.ctimeNs % 1_000_000_000n],
    ...[stat.mtimeNs / 1_000_000_000n, stat.mtimeNs % 1_000_000_000n],
    ...[stat.dev, stat.ino, BigInt(Number.parseInt(mode, 8)), stat.uid, stat.gid, stat.size],
  ];
  for (const [at, word] of words.entries()) entry.writeUInt32BE(Number(BigInt.asUintN(32, word)), 4 * at);
  id.copy(entry, statBytes);
  entry.writeUInt16BE(Math.min(name.length, maxNameLength), statBytes + id.length);
  name.copy(entry, statBytes + id.length + 2);
  return entry;
}

export interface SmallEntry extends TreeEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly bytes: Buffer;
}

/** A tree that is kept in memory, because it is exported again and again. */
export interface SmallTree {
  /** In git's order; no two paths conflict. */
  readonly entries: readonly SmallEntry[];
  /** Every directory of the paths, parents first. */
  readonly directories: readonly string[];
}

/** git exports a larger tree, with several processes. */
const most = { entries: 256, bytes: 1024 * 1024 };

const maxSegmentLength = 255;
const maxPathLength = 1000;
const maxLinkLength = 1000;

/** Names that are equal on every file system, without those that git treats specially. */
const plainSegment = /^(?!\.git$)[\w.@+=#,()[\] -]*[\w@+=#,()[\]-]$/i;
/** git refuses some of these as links. */
const ownNameOfGit = /(?:^|\/)\.git[^/]*$/i;

/**
 * Reads a tree, as `listTree` lists it, of at most 256 paths and 1 MiB; `undefined` if git must export it: it is
 * larger, holds a submodule, or has a name that a file system or git treats specially, or it is malformed or
 * incomplete, which git then reports.
 */
export async function readSmallTree(
  place: GitDirectory,
  listed: readonly TreeEntry[],
): Promise<SmallTree | undefined> {
  if (listed.length > most.entries || listed.reduce((sum, one) => sum + one.sizeBytes, 0) > most.bytes)
    return undefined;
  const directories = directoriesOf(listed);
  if (directories === undefined) return undefined;
  const contents: Buffer[] = [];
  await askObjects(place, {
    names: listed.map(({ object }) => object),
    command: 'contents',
    maxBytes: most.bytes,
    take: (index, answer) => {
      if (answer?.type === 'blob' && answer.bytes !== undefined) contents[index] = answer.bytes;
    },
  });
  const entries: SmallEntry[] = [];
  for (const [index, { mode, ...entry }] of listed.entries()) {
    const bytes = contents[index];
    if (bytes === undefined || !isPlainMode(mode)) return undefined;
    if (mode === '120000' && !isPlainLink(entry.path, bytes)) return undefined;
    entries.push({ ...entry, mode, bytes });
  }
  return { entries, directories };
}

function isPlainMode(mode: string): mode is SmallEntry['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000';
}

function isPlainLink(path: string, target: Buffer): boolean {
  return (
    !ownNameOfGit.test(path) && target.length > 0 && target.length <= maxLinkLength && !target.includes(0)
  );
}

/** `undefined` if a path is not plain, or two paths conflict. */
function directoriesOf(listed: readonly TreeEntry[]): readonly string[] | undefined {
  const directories = new Map<string, string>();
  const files = new Set<string>();
  let before = '';
  for (const { path } of listed) {
    if (path <= before || path.length > maxPathLength) return undefined;
    before = path;
    files.add(path.toLowerCase());
    const segments = path.split('/');
    if (!segments.every((segment) => segment.length <= maxSegmentLength && plainSegment.test(segment)))
      return undefined;
    for (let depth = 1; depth < segments.length; depth += 1) {
      const directory = segments.slice(0, depth).join('/');
      const key = directory.toLowerCase();
      if ((directories.get(key) ?? directory) !== directory) return undefined;
      directories.set(key, directory);
    }
  }
  if (files.size < listed.length || [...files].some((file) => directories.has(file))) return undefined;
  return [...directories.values()];
}

export interface TreeOfWorkspace {
  /**
   * The tree of the directory now, written to the scratch: byte by byte, without ignored paths that the base does not
   * track. The `.git`, attributes and config in the directory have no influence.
   */
  take(): Promise<string>;
}

/** Call this while the directory is as it was exported; `index` is a file outside of it. */
export async function rememberWorkspace(
  scratch: Scratch,
  directory: string,
  tree: string,
  index: string,
): Promise<TreeOfWorkspace> {
  await rm(index, { force: true });
  const place: GitDirectory = {
    ...scratch,
    cwd: directory,
    env: { ...scratch.env, GIT_WORK_TREE: directory, GIT_INDEX_FILE: index },
    settings: [...scratch.settings, ['core.trustctime', 'true'], ['core.checkstat', 'default']],
  };
  // Its sizes and times save reading every file again.
  const isKnown = await copyFile(join(directory, '.git', 'index'), index).then(
    () => true,
    () => false,
  );
  return {
    async take() {
      if ((await lstat(directory)).isDirectory()) await chmod(directory, 0o755);
      // Delayed: most workers return a patch and never need this.
      if (!isKnown) await runGit(place, ['read-tree', tree]);
      await runGit(place, ['add', '--all', '--', '.']);
      return gitLine(place, ['write-tree']);
    },
  };
}
