import { errorCatalogue } from '../core/base/error-codes.ts';
import { isWritError, WritError } from '../core/base/errors.ts';

/** What is answered for a fault: status and the one JSON envelope, `{error: {code, message, details?}}`. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** A fault as the outside may see it: a catalogued one as it is, any other as INTERNAL_ERROR without its words. */
export function toErrorAnswer(thrown: unknown): ErrorAnswer {
  const fault = isWritError(thrown) && thrown.code !== 'INTERNAL' ? thrown : new WritError('INTERNAL_ERROR');
  const { code, message, detail } = fault;
  const details = Object.keys(detail).length === 0 ? {} : { details: detail };
  return {
    status: errorCatalogue[code].http,
    body: Buffer.from(`${JSON.stringify({ error: { code, message, ...details } })}\n`),
  };
}
