import { accepted, type HostilePlace, type HostileRow, refused } from './hostile-row.ts';
import { markBody, markTarget, notifyTarget, raw, soundRequest } from './sound-request.ts';

const missing = refused(401, 'MISSING_SERVICE_TOKEN');
const wrong = refused(403, 'INVALID_SERVICE_TOKEN');
type Value = string | readonly string[];

function withToken(value: (token: string) => Value): (place: HostilePlace) => Buffer {
  return (place) =>
    soundRequest(place, {
      target: markTarget,
      headers: { 'x-svc-service-token': value(place.token) },
      body: markBody,
    });
}

function withoutToken(target: string, headers: Readonly<Record<string, string>> = {}) {
  return (place: HostilePlace): Buffer => {
    const body = target === '/api/service/events' || target.startsWith('/api/service/dirty?');
    return soundRequest(place, {
      target: target.replace('TOKEN', place.token),
      headers: {
        'x-svc-service-token': undefined,
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, value.replace('TOKEN', place.token)]),
        ),
      },
      ...(body ? {} : { body: markBody }),
    });
  };
}

const flipped = (token: string, at: number): string =>
  `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;

const wrongTokens: Readonly<Record<string, (token: string) => Value>> = {
  'another token of the same length': (token) => 'A'.repeat(token.length),
  'the first character wrong': (token) => flipped(token, 0),
  'the last character wrong': (token) => flipped(token, token.length - 1),
  'a token cut by one': (token) => token.slice(0, -1),
  'one character of it': (token) => token.slice(0, 1),
  'a token and one more character': (token) => `${token}A`,
  'the token and a line of padding': (token) => `${token}=`,
  'the token twice in one header': (token) => `${token}, ${token}`,
  'the right token in two headers': (token) => [token, token],
  'a wrong token, then the right one': (token) => ['wrong', token],
  'the right token, then a wrong one': (token) => [token, 'wrong'],
  'the right token, then an empty one': (token) => [token, ''],
  'the token in quotes': (token) => `"${token}"`,
  'the token in another case': (token) =>
    token.replace(/[a-z]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    ),
  'a blank in the token': (token) => `${token.slice(0, 5)} ${token.slice(5)}`,
  'Bearer and the token': (token) => `Bearer ${token}`,
  'the token percent-encoded': (token) =>
    token.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`),
  'octets beyond ASCII': () => '\u00ff\u00fe\u00e9',
  'a token of 8,000 characters': () => 'A'.repeat(8000),
  'a wildcard': () => '*',
  undefined: () => 'undefined',
};

/** The right to ask: the content of the token file in the one header, once. */
export const tokenRows: readonly HostileRow[] = [
  missing('no token for a mark', withoutToken(markTarget)),
  missing('no token for a notification', withoutToken(notifyTarget)),
  missing('no token for what a run publishes', withoutToken('/api/service/publish')),
  missing('no token to clear', withoutToken('/api/service/dirty/clear')),
  missing('no token for the marks', withoutToken('/api/service/dirty?after=')),
  missing('no token for the events', withoutToken('/api/service/events')),
  missing('the token in the query', withoutToken(`${markTarget}?token=TOKEN&x-svc-service-token=TOKEN`)),
  missing('the token in a cookie', withoutToken(markTarget, { cookie: 'x-svc-service-token=TOKEN' })),
  missing('the token as Authorization', withoutToken(markTarget, { authorization: 'Bearer TOKEN' })),
  missing('the token in a header of a like name', withoutToken(markTarget, { 'x-svc-token': 'TOKEN' })),
  missing('the token with underscores', withoutToken(markTarget, { x_svc_service_token: 'TOKEN' })),
  missing(
    'an empty token',
    withToken(() => ''),
  ),
  missing(
    'a token of blanks',
    withToken(() => ' \t '),
  ),
  missing(
    'an empty token, then the right one',
    withToken((token) => ['', token]),
  ),
  ...Object.entries(wrongTokens).map(([says, value]) => wrong(says, withToken(value))),
  missing(
    'the token in a trailer',
    raw(
      ({ host, token }) =>
        `POST ${markTarget} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n` +
        `f\r\n${markBody}\r\n0\r\nx-svc-service-token: ${token}\r\n\r\n`,
    ),
  ),
  wrong('a wrong token with a body that will not be read', (place) =>
    soundRequest(place, {
      target: markTarget,
      headers: { 'x-svc-service-token': 'wrong', 'content-length': '1000' },
      body: '',
    }),
  ),
  accepted(
    'blanks around the token, which HTTP takes away',
    withToken((token) => `  ${token} \t`),
    {
      stores: ['a'],
    },
  ),
  accepted(
    'another case of the header’s name',
    ({ host, token }) =>
      Buffer.from(
        `POST ${markTarget} HTTP/1.1\r\nHOST: ${host}\r\nX-SVC-SERVICE-TOKEN: ${token}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${markBody.length}\r\n\r\n${markBody}`,
      ),
    { stores: ['a'] },
  ),
];
