import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { openPublicClient } from '../../../workspace/egress/ask-public.ts';
import { FakeOutside, listening, origin, publicAddress } from './client.ts';

const all = { all: true, openings: [] };

function world(names: Readonly<Record<string, readonly string[]>>, port: number): FakeOutside {
  const outside = new FakeOutside();
  for (const [name, addresses] of Object.entries(names)) outside.names.set(name, addresses);
  outside.ports.set(80, port).set(443, port);
  return outside;
}

const ask = (t: Test, outside: FakeOutside, url: string, withinMs = 5000) => {
  const over = new AbortController();
  t.teardown(() => over.abort());
  const asker = openPublicClient(over.signal, outside);
  const question = { url: new URL(url), headers: { 'x-own': '1' }, withinMs, maxBytes: 100 };
  return { asker, over, answer: asker.ask(question, all) };
};

t.test('a public request is sent once, answered and recorded as one use', async (t) => {
  const { port, seen } = await origin(t);
  const { asker, answer } = ask(t, world({ 'a.example': [publicAddress] }, port), 'http://a.example/x?y=1');
  t.match(await answer, { ok: true, status: 200, body: Buffer.from('hello'), isCut: false });
  t.match(seen[0]?.request, { url: '/x?y=1', headers: { host: 'a.example', 'x-own': '1' } });
  t.match(asker.uses(), [{ host: 'a.example', port: 80, via: 'http', outcome: 'allowed', receivedBytes: 5 }]);
});

t.test('a name with any address that is not public is not connected to', async (t) => {
  const { port, seen } = await origin(t);
  const names = { 'a.example': [publicAddress, '192.168.0.1'], 'b.example': ['::1'] };
  for (const url of ['http://a.example/', 'http://b.example/', 'http://127.0.0.1/', 'http://[::1]/']) {
    const outside = world(names, port);
    const { answer } = ask(t, outside, url);
    t.match(await answer, { ok: false, refused: true, why: 'address' });
    t.strictSame(outside.connected, []);
  }
  t.strictSame(seen, []);
});

t.test('a silent or endless server times out, and the end of the run aborts the request', async (t) => {
  let connected = (): void => {};
  const silent = await listening(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      connected();
    }),
  );
  const endless = await origin(t, (_request, response) => {
    response.write('.');
  });
  for (const port of [silent, endless.port]) {
    const outside = world({ 'a.example': [publicAddress] }, port);
    t.match(await ask(t, outside, 'http://a.example/', 300).answer, { ok: false, why: 'no-answer' });
  }
  const { answer, over } = ask(
    t,
    world({ 'a.example': [publicAddress] }, silent),
    'http://a.example/',
    60_000,
  );
  connected = () => over.abort();
  t.match(await answer, { ok: false });
});

t.test('a response longer than the bound is cut', async (t) => {
  const { port } = await origin(t, (_request, response) => response.end('a'.repeat(1000)));
  const { answer } = ask(t, world({ 'a.example': [publicAddress] }, port), 'http://a.example/');
  const got = await answer;
  t.match(got, { ok: true, isCut: true });
  t.equal(got.ok && got.body.length, 100);
});

t.test('a server that cannot prove its name under TLS receives no request', async (t) => {
  const { port, seen } = await origin(t);
  const { answer } = ask(t, world({ 'a.example': [publicAddress] }, port), 'https://a.example/');
  t.match(await answer, { ok: false, why: 'no-answer' });
  t.strictSame(seen, []);
});
