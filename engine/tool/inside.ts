import path from 'node:path';

/**
 * True where `file` is `directory` or lies beneath it. Both absolute and normalised; symlinks are the caller's to
 * resolve.
 */
export function isInside(directory: string, file: string): boolean {
  return (
    file === directory || file.startsWith(directory.endsWith(path.sep) ? directory : directory + path.sep)
  );
}
