import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { isGoverningPath } from './governing-paths.ts';

/**
 * Refuses a path that no patch may write: PATCH_ESCAPES_REPOSITORY for absolute paths, `..`, and the git directory
 * under any of the names that some file system takes for it; PATCH_TOUCHES_STATE for what lies in `.writ`, but for the
 * tracked files that govern writ (`isGoverningPath`).
 */
export function requirePatchPath(path: string): void {
  const segments = path.split('/');
  const refuse = (why: string): never => {
    throw new WritError('PATCH_ESCAPES_REPOSITORY', {
      message: `\`${printable(path)}\` ${why}`,
      detail: { path: printable(path) },
    });
  };
  if (path === '' || path.includes('\0')) refuse('is no file name');
  if (path.startsWith('/') || path.startsWith('\\') || /^[A-Za-z]:[\\/]/.test(path))
    refuse('is an absolute path');
  if (path.split(/[\\/]/).includes('..')) refuse('leads out of the repository');
  if (segments.some((segment) => segment === '' || segment === '.')) refuse('is not a plain path');
  // NTFS takes a backslash for a separator, too.
  if (path.split(/[\\/]/).some(isGitDirectoryName)) refuse('lies in the git directory');
  if (stateName(path.split(/[\\/]/)[0] ?? '') && !isGoverningPath(path)) {
    throw new WritError('PATCH_TOUCHES_STATE', { detail: { path: printable(path) } });
  }
}

/**
 * `.git` as HFS+ (ignored code points, any case) and NTFS (trailing dots and spaces, streams, short names) understand
 * it.
 */
function isGitDirectoryName(segment: string): boolean {
  const folded = foldName(segment);
  return folded === '.git' || folded === 'git~1';
}

function stateName(segment: string): boolean {
  const folded = foldName(segment);
  return folded === '.writ' || folded === 'writ~1';
}

function foldName(segment: string): string {
  return segment
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}
