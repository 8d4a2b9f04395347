import { isWritError, WritError } from '../../core/base/errors.ts';
import { type InputSource, readInput } from '../read-input.ts';

/** Bytes of a specification that is read at all; the contract's limit, beyond it the document is malformed. */
export const maxSpecBytes = 4 * 1024 * 1024;

/** A named file's bytes; over the limit `INTENTSPEC_MALFORMED`, as the contract says. */
export async function readSpecBytes(context: InputSource, path: string): Promise<Buffer> {
  try {
    return await readInput(context, path, { maxBytes: maxSpecBytes });
  } catch (thrown) {
    if (!isWritError(thrown, 'INPUT_TOO_LARGE')) throw thrown;
    throw new WritError('INTENTSPEC_MALFORMED', {
      message: thrown.message,
      detail: thrown.detail,
      cause: thrown,
    });
  }
}
