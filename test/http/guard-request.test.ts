import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import t from 'tap';
import { guardRequest, valuesOf } from '../../http/guard-request.ts';

/** A request as node's parser hands it over, from a peer at that address. */
function requestFrom(
  peer: string | undefined,
  ...headers: readonly (readonly [string, string])[]
): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  request.rawHeaders = headers.flat();
  return request;
}

const host = ['Host', '127.0.0.1:80'] as const;

t.test('refuses a remote peer whatever its headers claim', async (t) => {
  for (const peer of [
    '10.0.0.1',
    '192.168.1.7',
    '::ffff:10.0.0.1',
    'fe80::1',
    '2001:db8::1',
    '',
    undefined,
  ]) {
    const refusal = guardRequest(requestFrom(peer, host, ['X-Forwarded-For', '127.0.0.1']));
    t.equal(refusal?.code, 'LOOPBACK_REQUIRED', String(peer));
    t.strictSame(refusal?.detail, { found: peer ?? null });
  }
  for (const peer of ['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1'])
    t.equal(guardRequest(requestFrom(peer, host)), undefined, peer);
});

t.test('checks the peer before the Host and the Host before the Origin', async (t) => {
  const wrong = [
    ['host', 'evil.example'],
    ['origin', 'http://evil.example'],
  ] as const;
  t.equal(guardRequest(requestFrom('10.0.0.1', ...wrong))?.code, 'LOOPBACK_REQUIRED');
  t.equal(guardRequest(requestFrom('127.0.0.1', ...wrong))?.code, 'HOST_FORBIDDEN');
  t.equal(guardRequest(requestFrom('127.0.0.1', host, wrong[1]))?.code, 'ORIGIN_REQUIRED');
});

t.test('refuses a Host header that is missing, foreign or repeated', async (t) => {
  const found = (...headers: readonly (readonly [string, string])[]): unknown => {
    const refusal = guardRequest(requestFrom('127.0.0.1', ...headers));
    return [refusal?.code, refusal?.detail.found];
  };
  t.strictSame(found(), ['HOST_FORBIDDEN', null]);
  t.strictSame(found(['host', '']), ['HOST_FORBIDDEN', '']);
  t.strictSame(found(['host', 'evil.example']), ['HOST_FORBIDDEN', 'evil.example']);
  t.strictSame(found(host, ['hOST', '127.0.0.1:80']), ['HOST_FORBIDDEN', 'several']);
});

t.test('admits a browser only from the same origin or a typed address', async (t) => {
  const code = (...headers: readonly (readonly [string, string])[]): unknown =>
    guardRequest(requestFrom('127.0.0.1', host, ...headers))?.code;
  t.equal(code(['Origin', 'http://127.0.0.1:80']), undefined);
  t.equal(code(['origin', 'HTTP://127.0.0.1:80'], ['Sec-Fetch-Site', 'same-origin']), undefined);
  t.equal(code(['Sec-Fetch-Site', 'none']), undefined, 'an address that was typed');
  for (const origin of [
    'null',
    '',
    'http://127.0.0.1',
    'https://127.0.0.1:80',
    'http://localhost:80',
    'http://127.0.0.1:80/',
  ])
    t.equal(code(['origin', origin]), 'ORIGIN_REQUIRED', `Origin: ${origin}`);
  t.equal(
    code(['origin', 'http://127.0.0.1:80'], ['ORIGIN', 'http://127.0.0.1:80']),
    'ORIGIN_REQUIRED',
    'twice',
  );
  for (const site of ['cross-site', 'same-site', 'None', ''])
    t.equal(code(['sec-fetch-site', site]), 'ORIGIN_REQUIRED', `Sec-Fetch-Site: ${site}`);
  t.equal(
    code(['sec-fetch-site', 'none'], ['sec-fetch-site', 'cross-site']),
    'ORIGIN_REQUIRED',
    'one of two',
  );
});

t.test('`valuesOf` returns every value of a header as it was sent', async (t) => {
  const request = requestFrom('::1', ['A', '1'], ['b', '2'], ['a', ''], ['aa', '3'], ['A', '4, 5']);
  t.strictSame(valuesOf(request, 'a'), ['1', '', '4, 5']);
  t.strictSame(valuesOf(request, 'c'), []);
});
