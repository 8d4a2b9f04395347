import t from 'tap';
import type { GraphData } from '../../../api/schemas/other-schemas.ts';
import { WritError } from '../../../core/base/errors.ts';
import { graphRoutes } from '../../../session/api/session-routes.ts';
import { openWriteDoor } from '../../../session/api/write-door.ts';
import { serveSession } from './serve-session.ts';

t.test('returns the graph of the current thread or of a given one', async (t) => {
  const wanted: string[] = [];
  const read = async (thread_id: string): Promise<GraphData> => {
    wanted.push(thread_id);
    if (thread_id === 'dead') throw new WritError('THREAD_NOT_FOUND');
    return { thread_id, title: 'x', nodes: [], edges: [] };
  };
  const { port } = await serveSession(t, { routes: (api) => graphRoutes(openWriteDoor(api), read) });
  const get = async (query = '') => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/code/graph${query}`);
    return [answer.status, await answer.json()];
  };
  t.match(await get(), [200, { thread_id: 't', title: 'x' }]);
  t.match(await get('?thread=01a2071a'), [200, { thread_id: '01a2071a' }]);
  t.match(await get('?thread=dead'), [404, { error: { code: 'THREAD_NOT_FOUND' } }]);
  for (const query of ['?thread=', '?thread=../x', '?thread=abcd&thread=abcd', `?thread=${'a'.repeat(65)}`])
    t.match(await get(query), [400, { error: { code: 'INVALID_QUERY_PARAM' } }], query);
  t.strictSame(wanted, ['t', '01a2071a', 'dead'], 'nothing else is looked for');
});
