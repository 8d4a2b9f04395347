import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { ProvidedDirectory } from '../workspace-dependencies.ts';

/**
 * Of paths that were looked for in vain at the base, those in directories that were made for the candidate. Each
 * directory on the way is looked up once.
 */
export function preparedFills(
  unprepared: readonly string[],
  provided: readonly Pick<ProvidedDirectory, 'directory' | 'source'>[],
): readonly string[] {
  const known = new Map<string, Stats | undefined>();
  const lookUp = (path: string): Stats | undefined => {
    if (!known.has(path)) known.set(path, statusOf(path));
    return known.get(path);
  };
  return unprepared.filter((path) => {
    const made = provided.find(({ directory }) => path.startsWith(`${directory}/`));
    return made !== undefined && exists(made.source, path.slice(made.directory.length + 1), lookUp);
  });
}

/** Links on the way are not followed: what is behind one may be there inside the sandbox. */
function exists(root: string, path: string, lookUp: (path: string) => Stats | undefined): boolean {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count += 1) {
    const status = lookUp(join(root, ...names.slice(0, count)));
    if (status === undefined) return false;
    if (status.isSymbolicLink()) return true;
    if (!status.isDirectory()) return count === names.length;
  }
  return true;
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
