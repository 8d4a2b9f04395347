import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';

/** THREAD_NOT_FOUND, with the id that was asked for; `isRun`: it is one of a run. */
export function threadNotFound(threadId: string, { isRun = false } = {}): WritError {
  const id = printable(threadId);
  return new WritError('THREAD_NOT_FOUND', {
    message: `there is no thread \`${id}\` in this repository`,
    detail: { thread_id: id },
    ...(isRun ? { hints: [`that is a run: \`writ resume ${id}\` goes on with it`] } : {}),
  });
}
