/* Decides which paths a patch may write. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';

/**
 * Refuses a path that no patch may write: PATCH_ESCAPES_REPOSITORY for absolute paths, `..`, and the git directory
 * under any name that a file system treats as such; PATCH_TOUCHES_STATE for `.writ`, except for the governing files.
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
  // NTFS treats a backslash as a separator, too.
  if (path.split(/[\\/]/).some(isGitDirectoryName)) refuse('lies in the git directory');
  if (stateName(path.split(/[\\/]/)[0] ?? '') && !isGoverningPath(path)) {
    throw new WritError('PATCH_TOUCHES_STATE', { detail: { path: printable(path) } });
  }
}

/** `.git` as HFS+ (ignored code points, any case) and NTFS (trailing dots and spaces, streams, short names) read it. */
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

/**
 * True for a tracked file below `.writ/` that governs writ itself: a patch may change it, with approvals of the
 * signers at the policy commit. Only the exact spelling counts; any other spelling of `.writ` is refused.
 */
function isGoverningPath(path: string): boolean {
  return (
    path === '.writ/config.toml' ||
    path === '.writ/allowed_signers' ||
    /^\.writ\/(?:agents|trust)\/./s.test(path)
  );
}

/** True if a change adds, edits, moves or removes a governing file. */
export function touchesGoverning(files: readonly Pick<PatchFile, 'path' | 'oldPath'>[]): boolean {
  return files.some(
    ({ path, oldPath }) => isGoverningPath(path) || (oldPath !== undefined && isGoverningPath(oldPath)),
  );
}
