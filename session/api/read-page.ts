import { WritError } from '../../core/base/errors.ts';

/** Elements in one answer (document 2, Limits). */
const [usual, most] = [50, 200];

/** How many elements one answer has, as `?limit=` asks for them. INVALID_QUERY_PARAM. */
export function readLimit(query: URLSearchParams): number {
  const limit = readWhole(query, 'limit') ?? usual;
  if (limit === 0) throw invalid('limit', 'at least 1', '0');
  return Math.min(limit, most);
}

/** A whole number of a query; `undefined` where it is not asked for. INVALID_QUERY_PARAM. */
export function readWhole(query: URLSearchParams, name: string): number | undefined {
  const [given, ...more] = query.getAll(name);
  if (given === undefined) return undefined;
  const whole = /^[0-9]{1,15}$/.test(given) && more.length === 0;
  if (!whole) throw invalid(name, 'one whole number of at most 15 digits', query.getAll(name).join(', '));
  return Number(given);
}

function invalid(name: string, expected: string, found: string): WritError {
  return new WritError('INVALID_QUERY_PARAM', {
    message: `expected \`${name}\` to be ${expected}, found \`${found.slice(0, 100)}\``,
    detail: { name },
  });
}
