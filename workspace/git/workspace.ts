import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type GitDirectory, runGit } from './git.ts';
import { isolatedGitEnvironment } from './git-environment.ts';
import { removeTree } from './remove-tree.ts';
import { type Borrowable, borrowedBy, writeGitDirectory } from './scratch.ts';
import { type SealedObjects, writeShallow } from './sealed-objects.ts';
import type { SmallEntry, SmallTree } from './small-tree.ts';
import { listTree } from './tree.ts';

/** Processes that write the files of one export. */
const maxWorkers = 4;

/** A plain directory that holds one tree, byte for byte. Nothing about it is known to the person's repository. */
export interface Workspace {
  readonly dir: string;
  /** Object directories that `.git` in it borrows from; bind them read-only where git shall work inside a sandbox. */
  readonly borrowed: readonly string[];
  /** Groups of paths that differ in case alone: on some file systems only one of each group can exist. */
  readonly caseCollisions: readonly (readonly string[])[];
  readonly submodules: readonly string[];
}

/**
 * Writes the tree of `treeish` into `dir` (created, expected empty) with a `.git` of its own whose HEAD is `headCommit`
 * (unborn without one). No filter, line-ending or encoding conversion; symlinks as symlinks, submodules as empty
 * directories. After untrusted code has seen the workspace, never run git with its `.git`: its config is not ours any
 * more.
 */
export async function exportWorkspace(
  objects: GitDirectory & Borrowable,
  treeish: string,
  dir: string,
  headCommit?: string,
): Promise<Workspace> {
  await exportTree(objects, treeish, dir, headCommit);
  const entries = await listTree(objects, treeish);
  return {
    dir,
    borrowed: borrowedBy(objects),
    caseCollisions: findCaseCollisions(entries.map(({ path }) => path)),
    submodules: entries.filter(({ mode }) => mode === '160000').map(({ path }) => path),
  };
}

/**
 * `exportWorkspace` for who asks nothing about the tree; `small` is what `readSmallTree` answered for it, and spares
 * the process. Its `.git` borrows what `objects` holds and, where that is sealed, says where history ends.
 */
export async function exportTree(
  objects: GitDirectory & Borrowable & Partial<Pick<SealedObjects, 'shallow'>>,
  treeish: string,
  dir: string,
  headCommit?: string,
  small?: SmallTree,
): Promise<void> {
  const gitDir = join(dir, '.git');
  await mkdir(dir, { recursive: true });
  await writeGitDirectory(gitDir, objects, headCommit ?? 'ref: refs/heads/main', false);
  if (objects.shallow?.length) await writeShallow(gitDir, objects.shallow);
  if (small !== undefined && isWritten(small, dir, gitDir, objects.objectFormat)) return;
  const place: GitDirectory = {
    gitDir,
    objectFormat: objects.objectFormat,
    cwd: dir,
    env: { ...isolatedGitEnvironment, GIT_DIR: gitDir, GIT_WORK_TREE: dir },
    settings: [
      ['core.attributesFile', '/dev/null'],
      // Git uses them from a hundred files on.
      ['checkout.workers', String(Math.min(maxWorkers, availableParallelism()))],
    ],
  };
  await runGit(place, ['read-tree', '--reset', '-u', '--no-recurse-submodules', treeish]);
}

/** False where something fails: git begins anew, and is the one to say what is wrong. */
function isWritten(...what: Parameters<typeof writeSmallTree>): boolean {
  try {
    writeSmallTree(...what);
    return true;
  } catch {
    return false;
  }
}

/** Deletes a workspace with everything in it, whatever a check made of it. */
export async function removeWorkspace(dir: string): Promise<void> {
  await removeTree(dir);
}

function findCaseCollisions(paths: readonly string[]): readonly (readonly string[])[] {
  const groups = new Map<string, Set<string>>();
  for (const path of paths) {
    for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
      const part = end < 0 ? path : path.slice(0, end);
      const key = part.normalize('NFC').toLowerCase();
      const group = groups.get(key) ?? new Set();
      groups.set(key, group.add(part));
      if (end < 0) break;
    }
  }
  return [...groups.values()].filter((group) => group.size > 1).map((group) => [...group].sort());
}

/** Bytes of an index entry before its object id (gitformat-index, version 2). */
const statBytes = 40;
const maxNameLength = 0xfff;

/**
 * Writes a tree into `dir` (expected empty but for `.git`) as `git read-tree -u` does: bytes and modes, links as links,
 * and `.git/index` that says what is there. Every file is a new one; where something stands in its place, it throws.
 * For trees so small that waiting for each call would cost more than the calls.
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
  // Between one and eight NULs behind the name, up to a multiple of eight.
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
