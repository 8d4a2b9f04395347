import t from 'tap';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { threadRoutes } from '../../../session/api/session-routes.ts';
import { listThreads } from '../../../session/thread/check-threads.ts';
import { threadPlace } from '../thread/said-thread.ts';

t.test('lists threads in pages and refuses invalid page parameters', async (t) => {
  const { repository, say } = threadPlace(t.testdir());
  for (const [at, id] of ['a', 'b', 'c'].entries()) await say(id, 1000 + at);
  const asked: unknown[] = [];
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: threadRoutes((page) => {
      asked.push(page);
      return listThreads(repository, page);
    }),
    body: { maxBytes: 1024, withinMs: 5000, maxDepth: 4 },
    headersWithinMs: 5000,
    report: (fault) => t.fail(String(fault)),
  });
  t.teardown(() => server.close(0));
  const ask = async (query: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const answer = await fetch(`${server.baseUrl}/api/code/threads${query}`);
    return { status: answer.status, body: await answer.json() };
  };
  t.match(await ask(''), { status: 200, body: { items: [{ id: 'c' }, { id: 'b' }, { id: 'a' }] } });
  t.match(await ask('?limit=2'), { status: 200, body: { items: { length: 2 }, nextOffset: 2 } });
  t.strictSame((await ask('?offset=3')).body, { items: [] });
  await ask('?limit=201&offset=7&other=x');
  t.strictSame(asked.at(-1), { limit: 200, offset: 7 });
  t.strictSame(asked[0], { limit: 50, offset: 0 });
  for (const query of [
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=1e2',
    'limit=',
    'limit=ten',
    'limit=+5',
    'limit=1&limit=2',
    'offset=-1',
    'offset=0x1',
    'offset=99999999999999999999',
  ])
    t.match(await ask(`?${query}`), { status: 400, body: { error: { code: 'INVALID_QUERY_PARAM' } } }, query);
});
