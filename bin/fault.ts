import { isWritError, messageOf, WritError } from '../core/base/errors.ts';

/** Whatever was thrown as a catalogued fault; what nobody catalogued is `INTERNAL`. */
export function toFault(thrown: unknown): WritError {
  if (isWritError(thrown)) return thrown;
  return new WritError('INTERNAL', {
    message: messageOf(thrown) || 'an internal fault',
    hints: ['set WRIT_DEBUG=1 to see where it happened'],
    cause: thrown,
  });
}
