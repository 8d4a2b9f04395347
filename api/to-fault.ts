import { isWritError, messageOf, WritError } from '../core/base/errors.ts';

/** What a file system answers where it cannot serve, or where something else stands than what writ put there. */
const ofEnvironment = new Set(
  'EACCES EBUSY EDQUOT EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENOSPC ENOTDIR ENOTEMPTY EPERM EROFS'.split(
    ' ',
  ),
);

/** Whatever was thrown as a catalogued fault; what nobody catalogued is `INTERNAL`. */
export function toFault(thrown: unknown): WritError {
  if (isWritError(thrown)) return thrown;
  const { code, path, syscall } = Object(thrown) as NodeJS.ErrnoException;
  // A directory that cannot be made in one that is read-only is said not to be there.
  const isServed = !ofEnvironment.has(code ?? '') && !(code === 'ENOENT' && syscall === 'mkdir');
  if (code !== undefined && syscall !== undefined && !isServed) {
    return new WritError('ENVIRONMENT_BROKEN', {
      message: messageOf(thrown),
      detail: { code, syscall, ...(path === undefined ? {} : { path }) },
      hints: ['make room, give access, or put that path right, and try again'],
      cause: thrown,
    });
  }
  return new WritError('INTERNAL', {
    message: messageOf(thrown) || 'an internal fault',
    hints: ['set WRIT_DEBUG=1 to see where it happened'],
    cause: thrown,
  });
}
