import { accepted, type HostilePlace, type HostileRow, refused } from './hostile-row.ts';
import { markBody, markTarget, raw, soundRequest } from './sound-request.ts';

const unsound = refused(400, 'INVALID_REQUEST');
const overflow = refused(431, 'HEADERS_TOO_LARGE');

/** A probe with this request line, and these lines instead of the usual end of its headers. */
function lines(first: string, ...more: readonly string[]): (place: HostilePlace) => Buffer {
  return raw(({ host }) => `${[first, `host: ${host}`, ...more].join('\r\n')}\r\n\r\n`);
}

const get = 'GET /api/health HTTP/1.1';

const versions: readonly HostileRow[] = [
  ...[
    'HTTP/0.9',
    'HTTP/2.0',
    'HTTP/1.2',
    'HTTP/3.0',
    'HTTP/11',
    'http/1.1',
    'HTTP/1',
    'HTTP/1.1x',
    'ICY/1.1',
  ].map((version) => unsound(`the version ${version}`, lines(`GET /api/health ${version}`))),
  refused(403, 'HOST_FORBIDDEN')(
    'a request of HTTP/0.9',
    raw(() => 'GET /api/health\r\n\r\n'),
  ),
  refused(403, 'HOST_FORBIDDEN')(
    'HTTP/1.0 without Host',
    raw(() => 'GET /api/health HTTP/1.0\r\n\r\n'),
  ),
  accepted('HTTP/1.0', lines('GET /api/health HTTP/1.0')),
  unsound(
    'the preface of HTTP/2',
    raw(() => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00'),
  ),
  unsound('a TLS client hello', () => Buffer.from(`16030100c8010000c40303${'5a'.repeat(64)}`, 'hex')),
  unsound(
    'a greeting of SMTP',
    raw(() => 'EHLO evil.example\r\n'),
  ),
  unsound(
    'a command of Redis',
    raw(() => '*1\r\n$4\r\nPING\r\n'),
  ),
  unsound(
    'an answer instead of a request',
    raw(() => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  ),
  unsound('octets without a sense', () =>
    Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167 + 131) & 0xff)),
  ),
  unsound('a megabyte of NUL', () => Buffer.alloc(1_000_000)),
];

const headers: readonly HostileRow[] = [
  unsound('a folded header', lines(get, 'x: a', ' b')),
  unsound(
    'the token folded',
    raw(
      ({ host, token }) =>
        `GET /api/service/dirty HTTP/1.1\r\nhost: ${host}\r\nx-svc-service-token:\r\n ${token}\r\n\r\n`,
    ),
  ),
  unsound(
    'line feeds only',
    raw(({ host }) => `${get}\nhost: ${host}\n\n`),
  ),
  unsound('a line feed within the headers', lines(get, 'x: a\ny: b')),
  unsound('a carriage return within a header', lines(get, 'x: a\ry: b')),
  unsound('a NUL within a header', lines(get, 'x: a\0b')),
  unsound('a blank before the colon', lines(get, 'x : a')),
  unsound('a header without a colon', lines(get, 'x')),
  unsound('a header without a name', lines(get, ': a')),
  unsound(
    'a blank before the first header',
    raw(({ host }) => `${get}\r\n host: ${host}\r\n\r\n`),
  ),
  unsound('a name beyond ASCII', lines(get, 'x\u00e9: a')),
  unsound('a tab in a name', lines(get, 'x\ty: a')),
  overflow('a header of 100 KiB', lines(get, `x: ${'y'.repeat(100 * 1024)}`)),
  overflow('a name of 100 KiB', lines(get, `${'x'.repeat(100 * 1024)}: y`)),
  overflow(
    'a megabyte of headers',
    lines(get, ...Array.from({ length: 20_000 }, () => `x: ${'y'.repeat(45)}`)),
  ),
  overflow('5,000 headers', lines(get, ...Array.from({ length: 5000 }, (_, index) => `x${index}: y`))),
  accepted(
    'empty lines before a request',
    raw(({ host }) => `\r\n\r\n${get}\r\nhost: ${host}\r\n\r\n`),
  ),
  accepted('3,000 short headers', lines(get, ...Array.from({ length: 3000 }, () => 'a:'))),
  accepted(
    'a forged peer',
    lines(get, 'x-forwarded-for: 10.0.0.1', 'forwarded: for=10.0.0.1;host=evil.example'),
  ),
  {
    says: 'headers that would be sent on by a careless answer',
    send: (place) =>
      soundRequest(place, {
        target: '/api/none?x=%0d%0aset-cookie:%20a',
        headers: { 'x-request-id': 'a%0d%0aset-cookie: b' },
      }),
    answers: [{ status: 404, code: 'NOT_FOUND' }],
  },
];

const upgrades: readonly HostileRow[] = [
  accepted(
    'an upgrade to a websocket is no upgrade',
    lines(
      get,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version: 13',
    ),
  ),
  accepted(
    'an upgrade to HTTP/2 is no upgrade',
    lines(get, 'connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__'),
  ),
  refused(401, 'MISSING_SERVICE_TOKEN')(
    'a websocket for the events',
    lines('GET /api/service/events HTTP/1.1', 'connection: upgrade', 'upgrade: websocket'),
  ),
  accepted(
    'a token that the connection header would take away',
    (place) =>
      soundRequest(place, {
        target: markTarget,
        headers: { connection: 'x-svc-service-token' },
        body: markBody,
      }),
    { stores: ['a'] },
  ),
];

const halves: readonly HostileRow[] = [
  { says: 'nothing at all', send: () => Buffer.alloc(0), answers: [], halfCloses: true },
  {
    ...unsound(
      'half a request line',
      raw(() => 'GET /api'),
    ),
    halfCloses: true,
  },
  {
    ...unsound(
      'half a header',
      raw(() => `${get}\r\nhost: 127`),
    ),
    halfCloses: true,
  },
  {
    ...unsound(
      'headers without their end',
      raw(({ host }) => `${get}\r\nhost: ${host}\r\n`),
    ),
    halfCloses: true,
  },
  accepted('a whole request and no more', (place) => soundRequest(place), { halfCloses: true }),
  accepted(
    'a mark that takes its time, and no more',
    (place) =>
      soundRequest(place, {
        target: markTarget,
        body: JSON.stringify({ paths: Array.from({ length: 20_000 }, () => 'd/none/a') }),
      }),
    { halfCloses: true, stores: ['d/none/a'] },
  ),
];

/** What speaks another protocol, or this one badly. */
export const protocolRows: readonly HostileRow[] = [...versions, ...headers, ...upgrades, ...halves];
