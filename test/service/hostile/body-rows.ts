import { accepted, type HostileRow, refused } from './hostile-row.ts';
import { markBody, markRequest } from './sound-request.ts';

const wrongType = refused(415, 'UNSUPPORTED_MEDIA_TYPE');
const invalid = refused(400, 'INVALID_BODY');
const escapes = refused(400, 'PATH_ESCAPES_REPOSITORY');
const stores = ['a'];

/** Types of a body that are not taken. */
export const foreignTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/json',
  'application/problem+json',
  'application/json-patch+json',
  'application/jsonx',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json; charset="utf-8',
  'application/json;',
  'x'.repeat(8000),
];

const mediaTypes: readonly HostileRow[] = [
  ...foreignTypes.map((type) => wrongType(type.slice(0, 60), markRequest({ 'content-type': type }))),
  wrongType('no content type', markRequest({ 'content-type': undefined })),
  wrongType('an empty content type', markRequest({ 'content-type': '' })),
  wrongType(
    'the right content type twice',
    markRequest({ 'content-type': ['application/json', 'application/json'] }),
  ),
  wrongType('two content types', markRequest({ 'content-type': ['application/json', 'text/plain'] })),
  ...['gzip', 'br', 'deflate', 'identity, gzip', ''].map((coding) =>
    wrongType(`Content-Encoding: ${coding}`, markRequest({ 'content-encoding': coding })),
  ),
  accepted(
    'Application/JSON; Charset="UTF-8"',
    markRequest({ 'content-type': 'Application/JSON ; Charset="UTF-8"' }),
    { stores },
  ),
  accepted('Content-Encoding: identity', markRequest({ 'content-encoding': 'identity' }), { stores }),
];

const notJson: Readonly<Record<string, string | Uint8Array>> = {
  'blanks only': '   ',
  'half an object': '{"paths":["a"]',
  'a string that does not end': '{"paths":["a',
  'a byte order mark': Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(markBody)]),
  'UTF-16': Buffer.from(markBody, 'utf16le'),
  'an octet that is no UTF-8': Buffer.from('{"paths":["a\xff"]}', 'latin1'),
  'an overlong slash': Buffer.from('{"paths":["a\xc0\xafb"]}', 'latin1'),
  'a surrogate in UTF-8': Buffer.from('{"paths":["a\xed\xa0\x80"]}', 'latin1'),
  'UTF-8 that is cut off': Buffer.from('{"paths":["a"]}\xe2\x82', 'latin1'),
  'an escaped half of a pair': '{"paths":["\\ud800"]}',
  'two halves in the wrong order': '{"paths":["\\udc00\\ud800"]}',
  'a field twice': '{"paths":["a"],"paths":["b"]}',
  'a field twice, once escaped': '{"paths":["a"],"p\\u0061ths":["b"]}',
  'something behind the object': `${markBody}x`,
  'two objects': `${markBody}${markBody}`,
  'a NUL behind the object': `${markBody}\0`,
  'a comma too many': '{"paths":["a",]}',
  'a comment': '{/*x*/"paths":["a"]}',
  'single quotes': "{'paths':['a']}",
  'a bare line feed in a string': '{"paths":["a\n"]}',
  NaN: '{"paths":[NaN]}',
  'a number that no double holds': '{"paths":[1e999]}',
  'sixty-five levels': `{"paths":${'['.repeat(64)}${']'.repeat(64)}}`,
  'a hundred thousand levels': `{"paths":${'['.repeat(100_000)}`,
  'a hundred thousand objects': '{"a":'.repeat(40_000),
};

const notThisForm: Readonly<Record<string, unknown>> = {
  'a list': [],
  'a list of paths': ['a'],
  null: null,
  true: true,
  'a number': 7,
  'a text': 'a',
  'an empty object': {},
  'no list': { paths: 'a' },
  'an object of paths': { paths: { 0: 'a', length: 1 } },
  'paths null': { paths: null },
  'an empty list': { paths: [] },
  'a number among the paths': { paths: ['a', 1] },
  'null among the paths': { paths: ['a', null] },
  'a list among the paths': { paths: ['a', ['b']] },
  'an object among the paths': { paths: [{ path: 'a' }] },
  'an unknown field': { paths: ['a'], force: true },
  'a field in another case': { Paths: ['a'] },
  'a field of 100,000 characters': { paths: ['a'], ['x'.repeat(100_000)]: 1 },
};

const shapes: readonly HostileRow[] = [
  ...Object.entries(notJson).map(([says, body]) => invalid(says, markRequest({}, body))),
  ...Object.entries(notThisForm).map(([says, value]) =>
    invalid(says, markRequest({}, JSON.stringify(value))),
  ),
  invalid('the paths as the prototype', markRequest({}, '{"__proto__":{"paths":["a"]}}')),
  invalid('a prototype beside the paths', markRequest({}, '{"paths":["a"],"__proto__":{"x":1}}')),
  invalid('a constructor beside the paths', markRequest({}, '{"paths":["a"],"constructor":{}}')),
  refused(413, 'PAYLOAD_TOO_LARGE')(
    '100,000 paths',
    markRequest({}, JSON.stringify({ paths: Array(100_000).fill('a') })),
  ),
  escapes('80,000 paths without a name', markRequest({}, JSON.stringify({ paths: Array(80_000).fill('') }))),
  accepted(
    '65,000 times the same path',
    markRequest({}, JSON.stringify({ paths: Array(65_000).fill('a') })),
    { stores },
  ),
  accepted('a path with every escape of JSON', markRequest({}, '{"paths":["\\u0061\\/b\\\\\\u0022"]}'), {
    stores: ['a/b\\"'],
  }),
];

/** What the body says it is, and what it is. */
export const bodyRows: readonly HostileRow[] = [...mediaTypes, ...shapes];
