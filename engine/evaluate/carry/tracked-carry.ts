import { pathsOverlap } from '../../config/repository-path.ts';

/** A carried path, and what the tree tracks there. */
export interface TrackedCarry {
  readonly path: string;
  readonly tracked: string;
}

/**
 * Carried paths that a tree tracks something at, below or above (a file or link where a directory would be needed).
 * Names that some file systems hold to be one are one: otherwise a check could hand on what others take for the
 * candidate's. Pure.
 */
export function trackedCarry(
  carry: readonly string[],
  entries: readonly { readonly path: string }[],
): readonly TrackedCarry[] {
  const wanted = carry.map((path) => ({ path, folded: fold(path) }));
  const found = new Map<string, string>();
  if (carry.length === 0) return [];
  for (const entry of entries) {
    const folded = fold(entry.path);
    for (const { path, folded: one } of wanted)
      if (!found.has(path) && pathsOverlap(one, folded)) found.set(path, entry.path);
  }
  return [...found].map(([path, tracked]) => ({ path, tracked }));
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
