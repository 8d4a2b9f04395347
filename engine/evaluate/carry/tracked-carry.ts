import { pathsOverlap } from '../../config/repository-path.ts';

/** A carried path, and what the tree tracks there. */
export interface TrackedCarry {
  readonly path: string;
  readonly tracked: string;
}

/**
 * Returns the carried paths that conflict with tracked paths. A path is tracked at or below one, or a file or link is
 * tracked above one, where a directory is needed. Names that some file systems treat as equal count as equal.
 * Otherwise a check could carry over files that later checks use as the candidate's. Pure.
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
