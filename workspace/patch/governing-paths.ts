import type { PatchFile } from '../../core/interfaces/patch-set.ts';

/**
 * True for a file that is tracked below `.writ/` and governs writ itself (resolutions, Config): a patch may change it,
 * with approvals under the signers at the policy commit. By its exact name; any other spelling of `.writ` is no
 * governing path but a refused one.
 */
export function isGoverningPath(path: string): boolean {
  return (
    path === '.writ/config.toml' ||
    path === '.writ/allowed_signers' ||
    /^\.writ\/(?:agents|trust)\/./s.test(path)
  );
}

/** True where a change adds, edits, moves or removes any of those. */
export function touchesGoverning(files: readonly Pick<PatchFile, 'path' | 'oldPath'>[]): boolean {
  return files.some(
    ({ path, oldPath }) => isGoverningPath(path) || (oldPath !== undefined && isGoverningPath(oldPath)),
  );
}
