import { messageOf } from '../../../core/base/errors.ts';

/** Reads a member; what that throws is told with the member. */
export function within<T>(member: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    throw new TypeError(`\`${member}\`: ${messageOf(fault)}`, { cause: fault });
  }
}
