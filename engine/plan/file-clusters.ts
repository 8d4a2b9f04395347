import { disjointSets } from './disjoint-sets.ts';
import { hintPattern } from './hint-pattern.ts';

/** Importing path → imported paths of one tree. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** The tracked files that `touchHints.files` means, sorted. `root` is where a monorepo's patterns are taken from. */
export function hintedFiles(
  hints: readonly string[],
  tracked: readonly string[],
  root: string,
): readonly string[] {
  const patterns = hints.flatMap((hint) => hintPattern(hint, root) ?? []);
  return tracked.filter((path) => patterns.some((matches) => matches(path))).sort();
}

/**
 * Files that import each other, directly or through other files of the list, in clusters; each sorted, clusters by
 * their first file (resolutions, A supplied patch). Files outside the list connect nothing: what everything imports
 * would make one cluster of all.
 */
export function fileClusters(files: readonly string[], imports: Imports): readonly (readonly string[])[] {
  const sorted = [...new Set(files)].sort();
  const places = new Map(sorted.map((path, at) => [path, at]));
  const sets = disjointSets(sorted.length);
  for (const [at, path] of sorted.entries()) {
    for (const target of imports.get(path) ?? []) {
      const other = places.get(target);
      if (other !== undefined) sets.join(at, other);
    }
  }
  const clusters = new Map<number, string[]>();
  for (const [at, path] of sorted.entries()) {
    const first = sets.of(at);
    const known = clusters.get(first);
    if (known) known.push(path);
    else clusters.set(first, [path]);
  }
  return [...clusters.values()];
}
