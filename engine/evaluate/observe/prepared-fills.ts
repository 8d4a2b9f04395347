import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProvidedDirectory } from '../workspace-dependencies.ts';

/** Of paths that were looked for in vain at the base, those in directories that were made for the candidate. */
export async function preparedFills(
  unprepared: readonly string[],
  provided: readonly ProvidedDirectory[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of unprepared) {
    const made = provided.find(({ directory }) => path.startsWith(`${directory}/`));
    if (made !== undefined && (await exists(made.source, path.slice(made.directory.length + 1))))
      found.push(path);
  }
  return found;
}

/** Links on the way are not followed: what is behind one may be there inside the sandbox. */
async function exists(root: string, path: string): Promise<boolean> {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count += 1) {
    const status = await lstat(join(root, ...names.slice(0, count))).catch(() => undefined);
    if (status === undefined) return false;
    if (status.isSymbolicLink()) return true;
    if (!status.isDirectory()) return count === names.length;
  }
  return true;
}
