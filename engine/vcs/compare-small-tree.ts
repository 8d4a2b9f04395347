import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { SmallEntry, SmallTree } from './small-tree.ts';

/**
 * Paths of a tree that was written into `dir` which hold other bytes, or are not what they were, now; in the tree's
 * order. Modes do not count.
 */
export function changedOfSmallTree({ entries, directories }: SmallTree, dir: string): readonly string[] {
  // Also where a link leads to one.
  const gone = directories.filter((path) => !isDirectory(join(dir, path))).map((path) => `${path}/`);
  return entries
    .filter((entry) => gone.some((above) => entry.path.startsWith(above)) || !isAsItWas(entry, dir))
    .map(({ path }) => path);
}

function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isAsItWas({ path, mode, bytes }: SmallEntry, dir: string): boolean {
  let file: number | undefined;
  try {
    if (mode === '120000') return readlinkSync(join(dir, path), { encoding: 'buffer' }).equals(bytes);
    file = openSync(join(dir, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file);
    return status.isFile() && status.size === bytes.length && readFileSync(file).equals(bytes);
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
