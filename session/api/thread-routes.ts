import type { Route } from '../../http/send-answer.ts';
import type { ThreadList } from '../thread/list-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';
import { readLimit, readWhole } from './read-page.ts';

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
function readPage(query: URLSearchParams): ThreadPage {
  return { limit: readLimit(query), offset: readWhole(query, 'offset') ?? 0 };
}
