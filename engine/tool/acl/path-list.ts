import path from 'node:path';
import { compileGlob } from '../../../core/base/glob.ts';

/**
 * Whether a workspace-relative path is one of the roots or lies beneath one. `dir`, `dir/` and `dir/**` are the
 * subtree, `.` is all.
 */
export function isUnder(roots: readonly string[], relative: string): boolean {
  return roots.some((root) => {
    const normal = normalRoot(root);
    if (normal === undefined) return false;
    if (normal === '.') return true;
    const glob = compileGlob(normal);
    return ancestors(relative).some((ancestor) => glob.matches(ancestor));
  });
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
