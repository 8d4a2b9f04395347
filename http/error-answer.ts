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
  const details = Object.keys(detail).length === 0 ? {} : { details: toWireNames(detail) };
  return {
    status: errorCatalogue[code].http,
    body: Buffer.from(`${JSON.stringify({ error: { code, message, ...details } })}\n`),
  };
}

/** Field names of the wire are camelCase (document 2, Versioning); those of the command line are not. */
function toWireNames(detail: WritError['detail']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, first: string) => first.toUpperCase()),
      value,
    ]),
  );
}
