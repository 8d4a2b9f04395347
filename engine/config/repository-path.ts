/**
 * Returns why `path` is not a plain path inside the repository, or `undefined` if it is one. A plain path is relative
 * and POSIX, has no `.` or `..`, and does not belong to git or writ.
 */
export function repositoryPathFault(path: string): string | undefined {
  if (path.length > 512) return 'expected at most 512 characters';
  if (path.startsWith('/') || path.startsWith('~') || /^[A-Za-z]:/.test(path))
    return 'expected a path relative to the repository root';
  if (path.includes('\\')) return 'expected `/` between path segments';
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') {
      return 'expected no empty, `.` or `..` segment and no slash at the end';
    }
    if (/^\.(git|writ)$/i.test(segment)) return `\`${segment}\` is not for the workspace`;
  }
  return undefined;
}

/** True if the paths are equal, or one is inside the other. */
export function pathsOverlap(left: string, right: string): boolean {
  return left === right || left.startsWith(`${right}/`) || right.startsWith(`${left}/`);
}
