import { readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { openLedgerReader } from '../../../attest/log/ledger-reader.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { serveLedger } from '../../../attest/log/serve-ledger.ts';
import { type LedgerFileReader, readFrom, tilePath, tileWidth } from '../../../attest/log/tiles.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

const place = makePlace();
const ledger = openLedger(place);
await ledger.appendAll(Array.from({ length: 600 }, (_, n) => Buffer.from(`entry ${n}`)));
writeFileSync(join(place.root, 'secret'), 'a secret');
writeFileSync(join(place.directory, 'tile/0/secret'), 'a secret');
const server = await serveLedger(readFrom(place.directory), { port: 0 });
const port = Number(new URL(server.url).port);
t.teardown(async () => {
  await server.close();
  rmSync(place.root, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The target goes out exactly as given. */
function ask(
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    call.on('error', reject).end();
  });
}

t.test('a C2SP client audits and proves the log over HTTP alone', async (t) => {
  const read: LedgerFileReader = async (path) => {
    const { status, body } = await ask(`/${path}`);
    return status === 200 ? body : undefined;
  };
  const key = parseVkey(await ledger.vkey());
  const reader = openLedgerReader(read, async (source) => verifyCheckpoint(source, [key]));
  const head = await reader.head();
  if (head === undefined) throw new Error('no head');
  t.equal(head.size, 600);
  await auditLedger(read, head);
  t.equal(Buffer.from((await reader.prove(300)).body).toString(), 'entry 300');
  t.ok(server.requests() > 8);
});

t.test('content types and caching follow tlog-tiles, and a HEAD response has no body', async (t) => {
  const checkpoint = await ask('/checkpoint');
  t.match(checkpoint.headers, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' });
  const tile = await ask('/tile/0/001');
  t.match(tile.headers, {
    'content-type': 'application/octet-stream',
    'cache-control': /immutable/,
    'content-length': '8192',
    'x-content-type-options': 'nosniff',
  });
  const head = await ask('/tile/0/001', { method: 'HEAD' });
  t.match(head, { status: 200, headers: { 'content-length': '8192' } });
  t.equal(head.body.length, 0);
  t.match(await ask('/tile/0/009'), { status: 404, headers: { 'cache-control': 'no-store' } });
});

t.test('partial tiles of every earlier size are served, and wider ones are not', async (t) => {
  const full = readFileSync(join(place.directory, 'tile/0/000'));
  for (const [path, bytes] of [
    ['/tile/0/000.p/1', full.subarray(0, 32)],
    ['/tile/0/000.p/255', full.subarray(0, 255 * 32)],
    ['/tile/entries/000.p/2', Buffer.from('\0\u0007entry 0\0\u0007entry 1')],
  ] as const)
    t.same((await ask(path)).body, bytes, path);
  t.equal((await ask('/tile/0/002.p/88')).body.length, 88 * 32);
  t.equal((await ask('/tile/1/000.p/2')).body.length, 64);
  for (const path of [
    '/tile/0/002.p/89',
    '/tile/0/002',
    '/tile/entries/002',
    '/tile/1/000.p/3',
    '/tile/2/000.p/1',
  ])
    t.equal((await ask(path)).status, 404, path);
});

t.test('tiles of a torn append, which no checkpoint covers, are not served', async (t) => {
  const torn = join(place.directory, tilePath(0, 2, tileWidth));
  writeFileSync(torn, Buffer.alloc(8192));
  t.equal((await ask('/tile/0/002')).status, 404);
  unlinkSync(torn);
});

t.test('only exact paths of the format are served, in any encoding', async (t) => {
  const targets = [
    '/',
    '/checkpoint/',
    '//checkpoint',
    '/checkpoint?x',
    '/checkpoint#x',
    '/Checkpoint',
    '/%63heckpoint',
    '/../secret',
    '/tile/../../secret',
    '/tile/../checkpoint',
    '/tile/0/../../../secret',
    '/tile/%2e%2e/%2e%2e/secret',
    '/..%2fsecret',
    '/tile/0/..%2f..%2f..%2fsecret',
    '/%252e%252e/secret',
    '/tile/0/%c0%ae%c0%ae/secret',
    '/..\\secret',
    '/tile/0/secret',
    '/lock/writer',
    '/tmp',
    '/tile',
    '/tile/0',
    '/tile/0/',
    '/tile/00/000',
    '/tile/64/000',
    '/tile/-1/000',
    '/tile/0/0',
    '/tile/0/x000/000',
    '/tile/0/000.p/0',
    '/tile/0/000.p/01',
    '/tile/0/000.p/256',
    '/tile/0/000.p/1/',
    '/tile/0/000%00',
    '/tile/entries/x999/x999/x999/x999/x999/999',
    `/${'a'.repeat(4000)}`,
    `http://127.0.0.1:${port}/checkpoint`,
    '*',
  ];
  for (const target of targets) {
    const { status, body } = await ask(target).catch(() => ({ status: 400, body: Buffer.alloc(0) }));
    t.ok([400, 404].includes(status), `${target} is ${status}`);
    t.notOk(body.includes('a secret'), target);
  }
});

t.test('a request with a host name that is not loopback is refused, against DNS rebinding', async (t) => {
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.2',
    'localhost@evil.example',
  ])
    t.equal((await ask('/checkpoint', { headers: { host } })).status, 403, host);
  for (const host of ['localhost', `localhost:${port}`, 'LOCALHOST', '127.0.0.1:9', '[::1]', `[::1]:${port}`])
    t.equal((await ask('/checkpoint', { headers: { host } })).status, 200, host);
  const bare = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /checkpoint HTTP/1.0\r\n\r\n'));
    let text = '';
    socket.on('data', (part: Buffer) => {
      text += part.toString();
    });
    socket.on('close', () => resolve(text));
  });
  t.match(bare, /^HTTP\/1\.1 403 /, 'no Host at all');
});

t.test('the server refuses every method except GET and HEAD', async (t) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
    t.match(await ask('/checkpoint', { method }), { status: 405, headers: { allow: 'GET, HEAD' } }, method);
});

t.test('a port in use is an error, and closing the server closes open connections', async (t) => {
  await t.rejects(serveLedger(readFrom(place.directory), { port }), { code: 'PORT_UNAVAILABLE' });
  const other = await serveLedger(readFrom(place.directory), { port: 0 });
  const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  await other.close();
  await ended;
});
