import { accepted, type HostilePlace, type HostileRow, refused } from './hostile-row.ts';
import { markBody, markRequest, markTarget, raw, soundRequest } from './sound-request.ts';

const unsound = refused(400, 'INVALID_REQUEST');
const tooLarge = refused(413, 'PAYLOAD_TOO_LARGE');
const maxBytes = 256 * 1024;
const stores = ['a'];

/** `size` octets of JSON that mark `a`. */
function bodyOf(size: number): string {
  return `{"paths":["a"]${' '.repeat(size - markBody.length)}}`;
}

function chunked(text: string, coding: string | readonly string[] = 'chunked') {
  return markRequest({ 'transfer-encoding': coding }, Buffer.from(text, 'latin1'));
}

const whole = `f\r\n${markBody}\r\n0\r\n\r\n`;

function announced(length: string | readonly string[], body = markBody) {
  return markRequest({ 'content-length': length }, body);
}

/** What one reader takes for the end of a message and another does not. */
const smuggling: readonly HostileRow[] = [
  unsound(
    'a length and chunks',
    markRequest({ 'content-length': '4', 'transfer-encoding': 'chunked' }, whole),
  ),
  unsound(
    'chunks and a length',
    markRequest({ 'transfer-encoding': 'chunked', 'content-length': '4' }, whole),
  ),
  unsound('a length that hides a second request', (place) =>
    soundRequest(place, {
      target: markTarget,
      headers: { 'content-length': '5', 'transfer-encoding': 'chunked' },
      body: `0\r\n\r\n${soundRequest(place, { target: markTarget, body: markBody }).toString('latin1')}`,
    }),
  ),
  unsound('the same length twice', announced(['15', '15'])),
  unsound('two lengths', announced(['15', '16'])),
  unsound('a list of lengths', announced('15, 15')),
  unsound('a negative length', announced('-1')),
  unsound('a length with a plus', announced('+15')),
  unsound('a hexadecimal length', announced('0xf')),
  unsound('a length with an exponent', announced('1e1')),
  unsound('an empty length', announced('')),
  unsound('a length beyond 64 bits', announced('99999999999999999999999')),
  ...['identity', 'xchunked', 'chunked;q=1', 'chunked, identity', 'chunked, chunked', 'gzip', ''].map(
    (coding) => unsound(`Transfer-Encoding: ${coding}`, chunked(whole, coding)),
  ),
  unsound('chunked and identity in two headers', chunked(whole, ['chunked', 'identity'])),
  unsound('a control character before chunked', chunked(whole, '\x0bchunked')),
  refused(415, 'UNSUPPORTED_MEDIA_TYPE')('compressed chunks', chunked(whole, 'gzip, chunked')),
  refused(415, 'UNSUPPORTED_MEDIA_TYPE')(
    'compression and chunks in two headers',
    chunked(whole, ['gzip', 'chunked']),
  ),
  accepted('CHUNKED', chunked(whole, 'CHUNKED'), { stores }),
];

const chunks: readonly HostileRow[] = [
  unsound('a chunk’s size that is no number', chunked(`zz\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('a negative size', chunked(`-f\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('a size with 0x', chunked(`0xf\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('a size beyond 64 bits', chunked(`ffffffffffffffffff\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('a size that is too small', chunked(`5\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('a size that is too large', chunked(`11\r\n${markBody}\r\n0\r\n\r\n`)),
  unsound('lines that end with a line feed only', chunked(`f\n${markBody}\n0\n\n`)),
  { ...unsound('chunks that end without their end', chunked(`f\r\n${markBody}\r\n`)), halfCloses: true },
  tooLarge(
    'chunk extensions of 20,000 characters',
    chunked(`f;x=${'y'.repeat(20_000)}\r\n${markBody}\r\n0\r\n\r\n`),
  ),
  refused(431, 'HEADERS_TOO_LARGE')(
    'trailers of 50,000 characters',
    chunked(`f\r\n${markBody}\r\n0\r\nx: ${'y'.repeat(50_000)}\r\n\r\n`),
  ),
  accepted('a short chunk extension', chunked(`f;name="value"\r\n${markBody}\r\n0\r\n\r\n`), { stores }),
  accepted(
    'trailers, which count for nothing',
    chunked(`f\r\n${markBody}\r\n0\r\nhost: evil.example\r\n\r\n`),
    { stores },
  ),
  accepted(
    'a chunk per octet',
    chunked(`${[...markBody].map((char) => `1\r\n${char}\r\n`).join('')}0\r\n\r\n`),
    { stores },
  ),
  accepted('a size with zeros before it', chunked(`0000000f\r\n${markBody}\r\n0\r\n\r\n`), { stores }),
];

const sizes: readonly HostileRow[] = [
  accepted('256 KiB', markRequest({}, bodyOf(maxBytes)), { stores }),
  accepted('256 KiB in chunks', chunked(`40000\r\n${bodyOf(maxBytes)}\r\n0\r\n\r\n`), { stores }),
  tooLarge('one octet more', markRequest({}, bodyOf(maxBytes + 1))),
  tooLarge('one octet more, and not one of them sent', announced(String(maxBytes + 1), '')),
  tooLarge('a million octets announced', announced('1000000', '')),
  tooLarge('2^53 octets announced', announced('9007199254740993', '')),
  tooLarge('one octet more in chunks', chunked(`40001\r\n${bodyOf(maxBytes + 1)}\r\n0\r\n\r\n`)),
  tooLarge('one octet more in chunks, and no end', chunked(`40001\r\n${bodyOf(maxBytes + 1)}`)),
  tooLarge('a chunk of 4 GiB that begins', chunked(`ffffffff\r\n${bodyOf(maxBytes + 1)}`)),
  tooLarge('two megabytes', markRequest({}, bodyOf(2_000_000))),
  { ...unsound('a body that is cut off', announced('50')), halfCloses: true },
  refused(400, 'INVALID_BODY')('no body', announced('0', '')),
];

const expectations: readonly HostileRow[] = [
  {
    says: '100-continue',
    send: markRequest({ expect: '100-continue' }),
    answers: [{ status: 100 }, { status: 200, body: { marked: ['a'] } }],
    stores,
  },
  tooLarge('100-continue for too much is not told to go on', (place) =>
    soundRequest(place, {
      target: markTarget,
      headers: { expect: '100-continue', 'content-length': '262145' },
      body: '',
    }),
  ),
  refused(403, 'INVALID_SERVICE_TOKEN')('100-continue with a wrong token', (place) =>
    soundRequest(place, {
      target: markTarget,
      headers: { expect: '100-continue', 'x-svc-service-token': 'x' },
      body: '',
    }),
  ),
  refused(415, 'UNSUPPORTED_MEDIA_TYPE')(
    '100-continue for a form',
    markRequest({ expect: '100-continue', 'content-type': 'text/plain' }, ''),
  ),
  refused(417, 'EXPECTATION_FAILED')('another expectation', markRequest({ expect: '200-ok' })),
  refused(403, 'HOST_FORBIDDEN')(
    'another expectation of a foreign Host',
    markRequest({ expect: 'x', host: 'evil' }),
  ),
  refused(404, 'NOT_FOUND')('another expectation of a strange target', (place) =>
    soundRequest(place, { target: '/%2e', headers: { expect: 'x' } }),
  ),
  accepted(
    '100-continue over HTTP/1.0, which knows no such thing',
    (place) => asOld(markRequest({ expect: '100-continue' })(place)),
    { stores },
  ),
];

const onGet: readonly HostileRow[] = [
  {
    says: 'a body on a GET is not taken for a request',
    send: (place) =>
      soundRequest(place, {
        method: 'GET',
        body: soundRequest(place, { target: markTarget, body: markBody }),
      }),
    answers: [{ status: 200, body: { status: 'ok' } }],
  },
  {
    says: 'chunks on a GET',
    send: (place) =>
      soundRequest(place, { method: 'GET', headers: { 'transfer-encoding': 'chunked' }, body: whole }),
    answers: [{ status: 200, body: { status: 'ok' } }],
  },
  refused(404, 'NOT_FOUND')('a body for an unknown route', (place) =>
    soundRequest(place, { target: '/api/none', body: markBody }),
  ),
];

const pipelined: readonly HostileRow[] = [
  {
    says: 'three requests at once, answered in order',
    send: joined(markRequest(), (place) => soundRequest(place), markRequest({}, '{"paths":["b"]}')),
    answers: [
      { status: 200, body: { marked: ['a'] } },
      { status: 200, body: { status: 'ok' } },
      { status: 200, body: { marked: ['b'] } },
    ],
    stores: ['a', 'b'],
    publishes: ['dirty_marked', 'dirty_marked'],
  },
  {
    says: 'a request behind a refused one',
    send: joined((place) => soundRequest(place, { target: '/api/none' }), markRequest()),
    answers: [{ status: 404, code: 'NOT_FOUND' }, { status: 200 }],
    stores,
  },
  {
    says: 'a request behind a refused body is not looked for',
    send: joined(markRequest({}, bodyOf(maxBytes + 1)), markRequest()),
    answers: [{ status: 413, code: 'PAYLOAD_TOO_LARGE' }],
  },
  {
    says: 'rubbish behind a sound request, which is answered first',
    send: joined(
      markRequest(),
      raw(() => 'rubbish\r\n\r\n'),
    ),
    answers: [
      { status: 200, body: { marked: ['a'] } },
      { status: 400, code: 'INVALID_REQUEST' },
    ],
    stores,
  },
  {
    says: 'bad chunks behind a sound request, which is answered first',
    send: joined(markRequest(), chunked(`zz\r\n${markBody}`)),
    answers: [
      { status: 200, body: { marked: ['a'] } },
      { status: 400, code: 'INVALID_REQUEST' },
    ],
    stores,
  },
  {
    says: 'fifty requests at once',
    send: (place) => Buffer.concat(Array.from({ length: 50 }, () => soundRequest(place))),
    answers: Array.from({ length: 50 }, () => ({ status: 200, body: { status: 'ok' } })),
  },
];

/** How long a body is, who says so, and what lies behind it. */
export const framingRows: readonly HostileRow[] = [
  ...smuggling,
  ...chunks,
  ...sizes,
  ...expectations,
  ...onGet,
  ...pipelined,
];

function joined(...sends: readonly HostileRow['send'][]): HostileRow['send'] {
  return (place: HostilePlace) => Buffer.concat(sends.map((send) => send(place)));
}

function asOld(request: Buffer): Buffer {
  return Buffer.from(request.toString('latin1').replace(' HTTP/1.1', ' HTTP/1.0'), 'latin1');
}
