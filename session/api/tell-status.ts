import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';

/**
 * What a session is like, as whoever makes it says; STATUS_UNAVAILABLE where that cannot be told: what it runs on does
 * not answer, or its state has no form that clients read. The session goes on.
 */
export async function tellStatus<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    const because = isWritError(cause) ? { because: cause.code } : {};
    throw new WritError('STATUS_UNAVAILABLE', {
      message: `the state of the session cannot be reported: ${messageOf(cause)}`,
      detail: because,
      hints: ['ask again; the log (`WRIT_LOG_FILE`) says what it ran into'],
      cause,
    });
  }
}
