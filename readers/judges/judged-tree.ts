import type { JudgedTree } from './named.ts';
import { followLinks, type LinkedEntry } from './tree-links.ts';

/** A tree with what only its reader asks. */
export interface WholeTree extends JudgedTree {
  /** Bytes of a file. */
  sizeOf(path: string): number;
  /** All but the root, in order; of `node_modules` only that it is there. */
  readonly directories: readonly string[];
}

/** A tree as commands see it: symbolic links on the way are followed. */
export function judgedTree(entries: readonly LinkedEntry[], links: ReadonlyMap<string, string>): WholeTree {
  const sizes = new Map(entries.map(({ path, sizeBytes }) => [path, sizeBytes]));
  const sorted = [...sizes.keys()].sort();
  const directories = new Set<string>();
  for (const path of sorted)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  const real = (path: string): string => followLinks(path, links).path;
  return {
    isFile: (path) => sizes.has(real(path)),
    isDirectory: (path) => path === '' || directories.has(real(path)),
    under: (directory) => {
      const at = real(directory);
      return at === '' ? sorted : withPrefix(sorted, `${at}/`);
    },
    directories: [...directories].filter((path) => !path.includes('node_modules/')).sort(),
    sizeOf: (path) => sizes.get(path) ?? 0,
  };
}

/** Looked for by halves: a script may ask for many directories of a large tree. */
function withPrefix(sorted: readonly string[], prefix: string): readonly string[] {
  const from = firstFrom(sorted, prefix);
  // What begins so stands together, before everything that begins with the next character.
  const next = `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
  return sorted.slice(from, firstFrom(sorted, next));
}

function firstFrom(sorted: readonly string[], least: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
