import type { GraphData } from '../../api/schemas/other-schemas.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/send-answer.ts';
import type { WriteDoor } from './write-door.ts';

/** Reads a thread as a graph of versions. THREAD_NOT_FOUND. */
export type ReadGraph = (threadId: string) => Promise<GraphData>;

/**
 * `GET /api/code/graph`: everything that came of the session's thread, as `writ graph --json` has it under `data`; of
 * another one with `?thread=ID`. INVALID_QUERY_PARAM, THREAD_NOT_FOUND, CODE_UI_UNAVAILABLE.
 */
export function graphRoutes({ required }: WriteDoor, read: ReadGraph): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/graph',
      answer: ({ query }) => {
        const { threadId } = required().state.ground;
        return read(readThread(query) ?? threadId);
      },
    },
  ];
}

function readThread(query: URLSearchParams): string | undefined {
  const [thread, ...more] = query.getAll('thread');
  if (thread === undefined) return undefined;
  if (more.length === 0 && /^[0-9a-f-]{4,64}$/.test(thread)) return thread;
  throw new WritError('INVALID_QUERY_PARAM', {
    message: 'expected `thread` to be the id of one thread',
    detail: { name: 'thread' },
  });
}
