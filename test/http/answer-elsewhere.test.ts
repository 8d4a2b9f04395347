import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { reachableHere } from '../../http/guard-request.ts';
import { answerElsewhere, startLoopbackServer } from '../../http/loopback-server.ts';
import type { Route } from '../../http/send-answer.ts';

const routes: readonly Route[] = [
  { method: 'GET', path: '/', isPage: true, answer: () => ({ page: true }) },
  { method: 'GET', path: '/api/code/session', answer: () => ({ session: true }) },
  { method: 'POST', path: '/api/code/interactions/:id', answer: () => ({ written: true }) },
];
const notice = (remote: string): string => `<h1>for ${remote}</h1>`;

/** What is answered to a request as it stands here, up to the end of the connection. */
async function ask(port: number, host: string, head: readonly string[], body = ''): Promise<string> {
  const socket = connect({ port, host });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.end(`${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

t.test(
  'a remote browser gets the notice, a known route LOOPBACK_REQUIRED, anything else NOT_FOUND',
  async (t) => {
    const server = createServer(answerElsewhere(routes, notice));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const html = 'accept: text/html,application/xhtml+xml';
    const evil = 'host: evil.example';
    const rows: readonly (readonly [
      answer: RegExp,
      method: string,
      path: string,
      ...headers: readonly string[],
    ])[] = [
      [/ 200 .*for 127\.0\.0\.1/s, 'GET', '/', evil, html],
      [/ 200 .*for 127/s, 'GET', '/threads/x?y=1', 'host: 10.0.0.1', html],
      [/ 200 .*for 127/s, 'GET', '/', evil, 'sec-fetch-mode: navigate', 'sec-fetch-dest: document'],
      [/^HTTP\/1.1 200 (?!.*<h1>)/s, 'HEAD', '/', evil, html],
      [/ 403 .*LOOPBACK_REQUIRED/s, 'GET', '/api/code/session', evil],
      [/ 403 .*LOOPBACK_REQUIRED/s, 'GET', '/api/code/session', evil, html],
      [/ 403 .*LOOPBACK_REQUIRED/s, 'DELETE', '/api/code/session', evil],
      [/ 403 .*LOOPBACK_REQUIRED/s, 'POST', '/api/code/interactions/i1', evil, 'content-length: 2'],
      [/ 404 .*NOT_FOUND/s, 'GET', '/api/code/interactions/', evil, html],
      [/ 404 .*NOT_FOUND/s, 'GET', '/api/code/nothing', evil, html],
      [/ 404 .*NOT_FOUND/s, 'GET', '/api', evil, html],
      [/ 404 .*NOT_FOUND/s, 'GET', '/assets/app.js', evil, html],
      [/ 404 .*NOT_FOUND/s, 'GET', '/favicon.ico', evil, 'accept: image/*'],
      [/ 404 .*NOT_FOUND/s, 'GET', '/', evil],
      [/ 404 .*NOT_FOUND/s, 'GET', '/', evil, html, 'sec-fetch-mode: no-cors'],
      [/ 404 .*NOT_FOUND/s, 'GET', '/', evil, html, 'sec-fetch-mode: navigate', 'sec-fetch-dest: iframe'],
      [/ 404 .*NOT_FOUND/s, 'POST', '/', evil, html, 'content-length: 2'],
    ];
    for (const [expected, method, path, ...headers] of rows) {
      const body = headers.includes('content-length: 2') ? '{}' : '';
      const answer = await ask(port, '127.0.0.1', [`${method} ${path} HTTP/1.1`, ...headers], body);
      t.match(answer, expected, `${method} ${path} ${headers.join(' ')}`);
      if (/^HTTP\/1.1 200/.test(answer))
        t.match(answer, /content-security-policy: default-src 'none';.*frame-ancestors 'none'/);
    }
  },
);

t.test('a server on all addresses serves its routes to this machine only', async (t) => {
  const start = () =>
    startLoopbackServer({
      host: '0.0.0.0',
      port: 0,
      routes,
      notice,
      body: { maxBytes: 1000, withinMs: 1000, maxDepth: 8 },
      headersWithinMs: 1000,
      report: (fault) => t.fail(String(fault)),
    });
  const server = await start();
  t.teardown(() => server.close(0));
  t.match(server.baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/, 'it is told as this machine reaches it');
  const port = Number(new URL(server.baseUrl).port);
  const session = (host: string, ...more: readonly string[]) =>
    ask(port, host, ['GET /api/code/session HTTP/1.1', ...more]);
  t.match(await session('127.0.0.1', `host: 127.0.0.1:${port}`), / 200 .*"session":true/s);
  t.match(await session('127.0.0.1', 'host: evil.example'), /HOST_FORBIDDEN/, 'no name that leads here');
  const outward = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (outward === undefined) t.comment('this machine has no address but its loopback');
  else {
    t.match(await session(outward.address, `host: 127.0.0.1:${port}`), / 403 .*LOOPBACK_REQUIRED/s);
    const page = ['GET / HTTP/1.1', `host: ${outward.address}`, 'accept: text/html'];
    t.match(await ask(port, outward.address, page), / 200 .*<h1>for /s);
  }
});

t.test('maps a wildcard address to the loopback address that reaches it', async (t) => {
  const rows = {
    '0.0.0.0': '127.0.0.1',
    '::': '::1',
    '0:0::0': '::1',
    '::1': '::1',
    '127.0.0.2': '127.0.0.2',
  };
  for (const [address, here] of Object.entries(rows)) t.equal(reachableHere(address), here, address);
});
