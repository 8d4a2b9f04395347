import { WritError } from '../../core/base/errors.ts';

/** True for the path of a stored file: relative, without empty parts, `.`, `..`, `.git` and NUL. */
export function isStorePath(path: string): boolean {
  const isName = (part: string): boolean =>
    part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git';
  return !path.includes('\0') && path.split('/').every(isName);
}

/** Refuses with INTERNAL what is no path of a stored file. */
export function requireStorePath(path: string): string {
  if (isStorePath(path)) return path;
  throw new WritError('INTERNAL', { message: `\`${path}\` is no path to store under`, detail: { path } });
}
