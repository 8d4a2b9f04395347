import path from 'node:path';
import { compileGlob } from '../../../core/base/glob.ts';

/**
 * Whether a workspace-relative path is one of the roots or lies beneath one. `dir`, `dir/` and `dir/**` are the
 * subtree, `.` is all.
 */
export function isUnder(roots: readonly string[], relative: string): boolean {
  const above = ancestors(relative);
  return matchersOf(roots).some((matches) => above.some(matches));
}

type Matches = (path: string) => boolean;

/** One list is asked about every entry of a directory. */
const known = new WeakMap<readonly string[], readonly Matches[]>();

function matchersOf(roots: readonly string[]): readonly Matches[] {
  const made = known.get(roots) ?? roots.map(matcherOf);
  known.set(roots, made);
  return made;
}

function matcherOf(root: string): Matches {
  const normal = normalRoot(root);
  if (normal === undefined) return () => false;
  if (normal === '.') return () => true;
  const glob = compileGlob(normal);
  return (path) => glob.matches(path);
}

/** Whether every root is one: relative, inside the workspace. */
export function areRoots(roots: readonly string[]): boolean {
  return roots.every((root) => normalRoot(root) !== undefined);
}

/** `undefined` for a root that is not inside the workspace. */
function normalRoot(root: string): string | undefined {
  const normal = path.posix.normalize(root.replace(/\/\*\*\/?$/, '/')).replace(/\/+$/, '');
  const escapes = path.posix.isAbsolute(root) || normal === '..' || normal.startsWith('../');
  return escapes ? undefined : normal === '**' || normal === '' ? '.' : normal;
}

/** The path and every directory above it, up to the workspace. */
function ancestors(relative: string): string[] {
  const parts = relative.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
