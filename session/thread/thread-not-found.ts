import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';

/** THREAD_NOT_FOUND, with the id that was asked for. */
export function threadNotFound(threadId: string): WritError {
  const id = printable(threadId);
  return new WritError('THREAD_NOT_FOUND', {
    message: `there is no thread \`${id}\` in this repository`,
    detail: { thread_id: id },
  });
}
