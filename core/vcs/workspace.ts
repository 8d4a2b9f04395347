import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import { runGit } from './git.ts';
import { isolatedGitEnvironment } from './git-environment.ts';
import { type Borrowable, borrowedBy, writeGitDirectory } from './scratch.ts';
import { listTree } from './tree.ts';

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
 * Writes the tree of `treeish` into `dir` (created, expected empty) with a `.git` of its own whose HEAD is `headCommit` (unborn without
 * one). No filter, line-ending or encoding conversion; symlinks as symlinks, submodules as empty directories.
 * After untrusted code has seen the workspace, never run git with its `.git`: its config is not ours any more.
 */
export async function exportWorkspace(
  objects: GitDirectory & Borrowable,
  treeish: string,
  dir: string,
  headCommit?: string,
): Promise<Workspace> {
  const gitDir = join(dir, '.git');
  await mkdir(dir, { recursive: true });
  await writeGitDirectory(gitDir, objects, headCommit ?? 'ref: refs/heads/main', false);
  const place: GitDirectory = {
    gitDir,
    objectFormat: objects.objectFormat,
    cwd: dir,
    env: { ...isolatedGitEnvironment, GIT_DIR: gitDir, GIT_WORK_TREE: dir },
    settings: [
      ['core.attributesFile', '/dev/null'],
      ['checkout.workers', '1'],
    ],
  };
  await runGit(place, ['read-tree', '--reset', '-u', '--no-recurse-submodules', treeish]);
  const entries = await listTree(objects, treeish);
  return {
    dir,
    borrowed: borrowedBy(objects),
    caseCollisions: findCaseCollisions(entries.map(({ path }) => path)),
    submodules: entries.filter(({ mode }) => mode === '160000').map(({ path }) => path),
  };
}

/** Deletes a workspace with everything in it, directories that a check made unreadable or read-only included. */
export async function removeWorkspace(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true });
  } catch {
    await makeRemovable(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function makeRemovable(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeRemovable(join(dir, entry.name));
  }
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
