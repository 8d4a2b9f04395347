import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/route.ts';
import type { ThreadList } from '../thread/list-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';

/** Threads in one answer (document 2, Limits). */
const [usual, most] = [50, 200];

/** The list of threads (document 2, `GET /api/code/threads`); it needs no session. INVALID_QUERY_PARAM. */
export function threadRoutes(list: (page: ThreadPage) => Promise<ThreadList>): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/threads',
      answer: ({ query }) => list(readPage(query)),
    },
  ];
}

/** A page as it was asked for. INVALID_QUERY_PARAM. */
export function readPage(query: URLSearchParams): ThreadPage {
  const limit = readWhole(query, 'limit', usual);
  if (limit === 0) throw invalid('limit', 'at least 1', '0');
  return { limit: Math.min(limit, most), offset: readWhole(query, 'offset', 0) };
}

function readWhole(query: URLSearchParams, name: string, absent: number): number {
  const [given, ...more] = query.getAll(name);
  if (given === undefined) return absent;
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
