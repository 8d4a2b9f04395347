import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { WritError } from '../../core/base/errors.ts';
import { type LoopbackServer, startLoopbackServer } from '../../http/loopback-server.ts';
import type { Route } from '../../http/send-answer.ts';
import { lookOn } from '../waiting/look-on.ts';

interface Served extends LoopbackServer {
  readonly reported: readonly unknown[];
  /** Asks for `path`; a text is sent as a body of JSON. */
  ask(
    path: string,
    body?: string,
    method?: string,
  ): Promise<{ status: number; text: string; headers: Headers }>;
}

async function serve(t: Test, routes: readonly Route[], host = '127.0.0.1', port = 0): Promise<Served> {
  const reported: unknown[] = [];
  const server = await startLoopbackServer({
    host,
    port,
    routes,
    body: { maxBytes: 1000, withinMs: 1000, maxDepth: 8 },
    headersWithinMs: 1000,
    report: (fault) => reported.push(fault),
  });
  t.teardown(() => server.close(100));
  return {
    ...server,
    reported,
    async ask(path, body, method = body === undefined ? 'GET' : 'POST') {
      const answer = await fetch(`${server.baseUrl}${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
  };
}

const get = (path: string, answer: Route['answer']): Route => ({ method: 'GET', path, answer });

t.test('a route gets its path parameters, query and body', async (t) => {
  const server = await serve(t, [
    get('/api/things/:id/parts/:part', ({ params, query }) => ({ params, query: [...query] })),
    { method: 'POST', path: '/api/things', answer: async ({ readBody }) => ({ body: await readBody() }) },
    { method: 'GET', path: '/api/things', answer: () => [1, null, 'x'] },
  ]);
  const one = await server.ask('/api/things/a-1/parts/b.c?x=1&x=%20&y');
  t.strictSame(JSON.parse(one.text), {
    params: { id: 'a-1', part: 'b.c' },
    query: [
      ['x', '1'],
      ['x', ' '],
      ['y', ''],
    ],
  });
  t.equal((await server.ask('/api/things', '{"a":[1]}')).text, '{"body":{"a":[1]}}\n');
  const two = await server.ask('/api/things');
  t.equal(two.text, '[1,null,"x"]\n');
  t.equal(two.headers.get('content-type'), 'application/json; charset=utf-8');
  t.equal(two.headers.get('cache-control'), 'no-store');
  t.equal((await server.ask('/api/things', undefined, 'DELETE')).headers.get('allow'), 'POST, GET, HEAD');
  t.strictSame(server.reported, []);
});

t.test('answers errors in one envelope and hides the details of internal faults', async (t) => {
  const secret = new Error('a secret of /home/somebody');
  const server = await serve(t, [
    get('/known', () => {
      throw new WritError('RESERVED_TYPE', { message: 'that one', detail: { type: 'x' } });
    }),
    get('/thrown', () => {
      throw secret;
    }),
    get('/rejected', () => Promise.reject(secret)),
    get('/text', () => Promise.reject('a text')),
    get('/internal', () => {
      throw new WritError('INTERNAL', { message: 'a secret' });
    }),
    get('/circle', () => {
      const circle: Record<string, unknown> = {};
      circle.itself = circle;
      return circle;
    }),
    {
      ...get('/admit', () => 'never'),
      admit: () => {
        throw new WritError('MISSING_SERVICE_TOKEN');
      },
    },
  ]);
  const known = await server.ask('/known');
  t.equal(known.status, 400);
  t.equal(known.text, '{"error":{"code":"RESERVED_TYPE","message":"that one","details":{"type":"x"}}}\n');
  for (const path of ['/thrown', '/rejected', '/text', '/internal', '/circle']) {
    const { status, text } = await server.ask(path);
    t.equal(status, 500, path);
    t.equal(text, '{"error":{"code":"INTERNAL_ERROR","message":"the server failed"}}\n');
  }
  t.equal(server.reported.length, 5);
  t.strictSame(server.reported.slice(0, 2), [secret, secret]);
  t.match(await server.ask('/admit'), { status: 401, text: /MISSING_SERVICE_TOKEN/ });
  t.match(await server.ask('/none'), { status: 404, text: /NOT_FOUND/ });
  t.equal(server.reported.length, 5, 'a refusal is no fault of ours');
});

t.test('does not read the body of a request that is not admitted', async (t) => {
  let asked = 0;
  const server = await serve(t, [
    {
      method: 'POST',
      path: '/x',
      admit: () => {
        throw new WritError('INVALID_SERVICE_TOKEN');
      },
      answer: () => {
        asked += 1;
      },
    },
  ]);
  t.equal((await server.ask('/x', '{')).status, 403);
  t.equal(asked, 0);
});

t.test('listens on the given IPv4 or IPv6 address and returns it in `baseUrl`', async (t) => {
  for (const host of ['127.0.0.1', '127.0.0.2', '::1']) {
    const server = await serve(t, [get('/x', () => 1)], host);
    t.match(server.baseUrl, host === '::1' ? /^http:\/\/\[::1\]:[0-9]+$/ : `http://${host}:`);
    t.equal((await server.ask('/x')).text, '1\n', host);
  }
});

t.test('refuses a port in use with PORT_UNAVAILABLE', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  await t.rejects(serve(t, [], '127.0.0.1', port), {
    code: 'PORT_UNAVAILABLE',
    detail: { host: '127.0.0.1', port },
  });
});

t.test('close waits for running answers until its timeout', async (t) => {
  const server = await serve(t, [
    get('/soon', () => lookOn(100).then(() => 'done')),
    get('/never', () => new Promise(() => {})),
  ]);
  const soon = server.ask('/soon');
  const never = server.ask('/never').catch(() => 'cut off');
  const idle = connect(Number(new URL(server.baseUrl).port), '127.0.0.1');
  await once(idle, 'connect');
  await lookOn(30);
  await server.close(300);
  t.equal((await soon).text, '"done"\n');
  t.equal(await never, 'cut off');
  await t.rejects(server.ask('/soon'), 'nobody listens any more');
});
