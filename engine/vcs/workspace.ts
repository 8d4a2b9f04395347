import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import { runGit } from './git.ts';
import { isolatedGitEnvironment } from './git-environment.ts';
import { removeTree } from './remove-tree.ts';
import { type Borrowable, borrowedBy, writeGitDirectory } from './scratch.ts';
import { type SealedObjects, writeShallow } from './sealed-objects.ts';
import type { SmallTree } from './small-tree.ts';
import { listTree } from './tree.ts';
import { writeSmallTree } from './write-small-tree.ts';

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
