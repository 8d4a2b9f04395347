import { isTooling } from '../../../readers/judges/rules.ts';
import { followLinks } from '../../../readers/judges/tree.ts';
import type { Footprint } from '../../../readers/trace/read-trace.ts';
import type { TreeEntry } from '../../../workspace/git/tree.ts';

/** What a check did with files, as the record of a run keeps it. Paths are relative to its workspace, '' its root. */
export interface CheckFootprint {
  readonly schema: 'urn:writ:footprint:v1';
  readonly missing: readonly string[];
  readonly listed: readonly string[];
  /** Files of the tree. */
  readonly read: readonly string[];
  /** Files of the tree, and absolute paths of programs outside the workspace. */
  readonly executed: readonly string[];
}

/**
 * Removes paths outside the workspace from a footprint, and reads of paths that are not in the tree. A path through
 * `links` of the tree counts under both names.
 */
export function toCheckFootprint(
  { missing, listed, read, executed }: Footprint,
  root: string,
  entries: readonly Pick<TreeEntry, 'path'>[],
  links: ReadonlyMap<string, string> = new Map(),
): CheckFootprint {
  const tracked = new Set(entries.map(({ path }) => path));
  const names = (path: string): readonly string[] =>
    below(root, path).flatMap((own) => [...new Set([own, followLinks(own, links).path])]);
  const within = (paths: readonly string[]): readonly string[] =>
    [...new Set(paths.flatMap(names))].filter((path) => path !== '.git' && !path.startsWith('.git/'));
  return {
    schema: 'urn:writ:footprint:v1',
    missing: within(missing),
    listed: within(listed),
    read: within(read).filter((path) => tracked.has(path)),
    executed: executed.flatMap((path) => {
      const own = names(path);
      return own.length === 0 ? [path] : own.filter((name) => tracked.has(name));
    }),
  };
}

/**
 * Returns the tree's verification inputs that the footprint shows: programs that were executed, and tooling that was
 * read.
 */
export function judgesSeen<T extends Pick<TreeEntry, 'path'>>(
  { read, executed }: CheckFootprint,
  entries: readonly T[],
): readonly T[] {
  const seen = new Set([...executed, ...read.filter(isTooling)]);
  return entries.filter(({ path }) => seen.has(path));
}

function below(root: string, path: string): readonly string[] {
  if (path === root) return [''];
  return path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : [];
}
