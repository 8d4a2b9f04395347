import { foreignTypes } from '../../service/hostile/body-rows.ts';
import { type Mutation, mutations, writes } from './mutation.ts';
import type { SessionPlace } from './open-session-place.ts';
import type { RouteLine } from './route-lines.ts';
import { bodyOf } from './session-request.ts';

const maxBytes = 256 * 1024;
const hasBody = ({ body }: RouteLine): boolean => body !== undefined;

/** Each is made of a sound body: nothing but that is wrong with it. */
function broken(change: (text: string) => string | Uint8Array) {
  return (place: SessionPlace, line: RouteLine) => ({ body: change(bodyOf(place, line)) });
}

const inside = (text: string, more: string): string =>
  text === '{}' ? `{${more}}` : `${text.slice(0, -1)},${more}}`;

const notJson: Readonly<Record<string, (text: string) => string | Uint8Array>> = {
  'blanks only': () => '  ',
  'half an object': (text) => text.slice(0, -1),
  'a byte order mark': (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'an octet that is no UTF-8': (text) => Buffer.from(inside(text, '"x":"\xff"'), 'latin1'),
  'an escaped half of a pair': (text) => inside(text, '"x":"\\ud800"'),
  'a member twice': (text) => inside(inside(text, '"x":1'), '"x":1'),
  'something behind the object': (text) => `${text}x`,
  'two objects': (text) => `${text}${text}`,
  'a NUL behind the object': (text) => `${text}\0`,
  'a comma too many': (text) => inside(text, '').replace('{}', '{,}'),
  'a comment': (text) => `/*x*/${text}`,
  NaN: (text) => inside(text, '"x":NaN'),
  'a number that no double holds': (text) => inside(text, '"x":1e999'),
  'seventeen levels': (text) => inside(text, `"x":${'['.repeat(16)}${']'.repeat(16)}`),
  'a hundred thousand levels': (text) => inside(text, `"x":${'['.repeat(100_000)}`),
};

const notThisForm: Readonly<Record<string, (text: string) => string>> = {
  'a list': (text) => `[${text}]`,
  null: () => 'null',
  true: () => 'true',
  'a number': () => '7',
  'a text': (text) => JSON.stringify(text),
  'a member that nobody reads': (text) => inside(text, '"role":"system"'),
  'a prototype': (text) => inside(text, '"__proto__":{"approved":true}'),
  'a constructor': (text) => inside(text, '"constructor":{"prototype":{}}'),
  'a toString': (text) => inside(text, '"toString":"x"'),
  'a token of the lease in the body': (text) => inside(text, '"controllerToken":"x"'),
  'a member of 100,000 characters': (text) => inside(text, `"${'x'.repeat(100_000)}":1`),
};

/** No member of any route is one of these. */
const wrongValues: Readonly<Record<string, string>> = {
  null: 'null',
  'a number': '1',
  'a list': '[["x"]]',
  'an object': '{"x":"x"}',
  true: 'true',
  'a text with a NUL': '"a\\u0000b"',
};

/** Every member of the sound body in turn, one after the other, for each wrong value. */
const wrongMembers = Object.fromEntries(
  Object.entries(wrongValues).flatMap(([says, value]) =>
    [0, 1].map((at) => [
      `${says} as member ${at + 1}`,
      (place: SessionPlace, line: RouteLine) => {
        const members = Object.entries(line.body?.(place) ?? {});
        const parts = members.map(
          ([name, sound], n) =>
            `${JSON.stringify(name)}:${n === at % members.length ? value : JSON.stringify(sound)}`,
        );
        return { body: `{${parts.join(',')}}` };
      },
    ]),
  ),
);

const chunked = (text: string) => ({ headers: { 'transfer-encoding': 'chunked' }, body: text });
const padded = (place: SessionPlace, line: RouteLine, size: number): string =>
  bodyOf(place, line).padEnd(size, ' ');

/** What the body says it is, and what it is. */
export const bodyMutations: Readonly<Record<string, readonly Mutation[]>> = {
  'a body is JSON and says so': mutations(
    writes,
    { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
    {
      ...Object.fromEntries(
        foreignTypes.map((type) => [
          type.slice(0, 60),
          (place, line) => ({ headers: { 'content-type': type }, body: bodyOf(place, line) }),
        ]),
      ),
      'no type': (place, line) => ({ headers: { 'content-type': undefined }, body: bodyOf(place, line) }),
      'the right type twice': (place, line) => ({
        headers: { 'content-type': ['application/json', 'application/json'] },
        body: bodyOf(place, line),
      }),
      ...Object.fromEntries(
        ['gzip', 'br', 'deflate', ''].map((coding) => [
          `Content-Encoding: ${coding}`,
          (place, line) => ({ headers: { 'content-encoding': coding }, body: bodyOf(place, line) }),
        ]),
      ),
    },
  ),
  'a body is one sound JSON object': mutations(
    writes,
    { status: 400, code: 'INVALID_BODY' },
    Object.fromEntries(
      Object.entries({ ...notJson, ...notThisForm }).map(([says, change]) => [says, broken(change)]),
    ),
  ),
  'a body has the members of its route and no other value': [
    ...mutations(hasBody, { status: 400, code: 'INVALID_BODY' }, wrongMembers),
    ...mutations(
      (line) => hasBody(line) && !line.path.startsWith('/api/code/interactions'),
      { status: 400, code: 'INVALID_BODY' },
      { 'an empty object': { body: '{}' }, 'no body': { body: '' } },
    ),
  ],
  'a body has 256 KiB at most': mutations(
    writes,
    { status: 413, code: 'PAYLOAD_TOO_LARGE' },
    {
      'one octet more': (place, line) => ({ body: padded(place, line, maxBytes + 1) }),
      'one octet more, and not one of them sent': {
        headers: { 'content-length': String(maxBytes + 1), 'content-type': 'application/json' },
        body: '',
      },
      '2^53 octets announced': {
        headers: { 'content-length': '9007199254740993', 'content-type': 'application/json' },
        body: '',
      },
      'one octet more in chunks': (place, line) =>
        chunked(`40001\r\n${padded(place, line, maxBytes + 1)}\r\n0\r\n\r\n`),
      'a chunk of 4 GiB that begins': (place, line) =>
        chunked(`ffffffff\r\n${padded(place, line, maxBytes + 1)}`),
      'two megabytes': (place, line) => ({ body: padded(place, line, 2_000_000) }),
    },
  ),
  'a body of 256 KiB is read': mutations(writes, 'sound', {
    'by its length': (place, line) => ({ body: padded(place, line, maxBytes) }),
    'in chunks': (place, line) => chunked(`40000\r\n${padded(place, line, maxBytes)}\r\n0\r\n\r\n`),
    'with blanks before it': (place, line) => ({ body: `\r\n\t ${bodyOf(place, line)}` }),
    'of another charset’s name': (place, line) => ({
      headers: { 'content-type': 'Application/JSON; Charset="UTF-8"' },
      body: bodyOf(place, line),
    }),
  }),
  'nobody can make two requests of one': mutations(
    writes,
    { status: 400, code: 'INVALID_REQUEST' },
    {
      'a length and chunks': {
        headers: { 'content-length': '4', 'transfer-encoding': 'chunked' },
        body: '0\r\n\r\n',
      },
      'the same length twice': { headers: { 'content-length': ['2', '2'] }, body: '{}' },
      'two lengths': { headers: { 'content-length': ['2', '3'] }, body: '{}' },
      'a negative length': { headers: { 'content-length': '-1' }, body: '{}' },
      'a hexadecimal length': { headers: { 'content-length': '0x2' }, body: '{}' },
      'an empty length': { headers: { 'content-length': '' }, body: '{}' },
      'a coding that nobody knows': {
        headers: { 'transfer-encoding': 'xchunked' },
        body: '2\r\n{}\r\n0\r\n\r\n',
      },
      'identity behind chunked': {
        headers: { 'transfer-encoding': 'chunked, identity' },
        body: '2\r\n{}\r\n0\r\n\r\n',
      },
      'a chunk’s size that is no number': chunked('zz\r\n{}\r\n0\r\n\r\n'),
      'a size that is too small': chunked('1\r\n{}\r\n0\r\n\r\n'),
      'lines that end with a line feed only': chunked('2\n{}\n0\n\n'),
    },
  ),
};
