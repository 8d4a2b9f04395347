import { hash } from 'node:crypto';
import t from 'tap';
import { octetsOf, openWebSocket } from '../../../agent/agent-program/web-socket.ts';

const bounds = { maxLineBytes: 70_000, maxLines: 50, maxBytes: 200_000, maxWaitingBytes: 100_000 };
const way = { port: 4711, token: 'a-token' };

/** A frame of a server; `more` changes its first octets. */
function frame(
  kind: number,
  payload: string | Buffer,
  more: { readonly first?: number; readonly second?: number } = {},
) {
  const octets = Buffer.from(payload);
  const { length } = octets;
  const size =
    length < 126
      ? [length]
      : length < 65_536
        ? [126, length >> 8, length & 255]
        : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  const head = Buffer.from([0x80 | kind, ...size]);
  head[0] = (head[0] ?? 0) ^ (more.first ?? 0);
  head[1] = (head[1] ?? 0) | (more.second ?? 0);
  return Buffer.concat([head, octets]);
}
const [continuation, text, binary, close, ping, pong] = [0, 1, 2, 8, 9, 10];
const notLast = { first: 0x80 };

const switched = (key: string, more: readonly string[] = []): string =>
  [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    `SEC-WEBSOCKET-ACCEPT:  ${hash('sha1', `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64')} `,
    ...more,
    '',
    '',
  ].join('\r\n');

/** Talks with a server that answers the handshake so, and then says these octets, in pieces of one size. */
async function talk(
  answer: (key: string) => string,
  said: readonly Buffer[] = [],
  { piece = 1000, within = bounds }: { readonly piece?: number; readonly within?: typeof bounds } = {},
) {
  const written: Buffer[] = [];
  const chunks = async function* (): AsyncGenerator<Buffer> {
    const key = /Sec-WebSocket-Key: (\S+)/.exec(String(written[0]))?.[1] ?? '';
    const all = Buffer.concat([Buffer.from(answer(key)), ...said]);
    for (let at = 0; at < all.length; at += piece) yield all.subarray(at, at + piece);
  };
  const socket = await openWebSocket(
    { from: octetsOf(chunks()), write: (octets) => void written.push(Buffer.from(octets)) },
    way,
    within,
    (found) => new Error(found),
  );
  const heard = async (): Promise<readonly string[]> => {
    const all: string[] = [];
    for await (const message of socket.messages) all.push(message);
    return all;
  };
  return { written, socket, heard };
}

/** What a client's frame says, unmasked. */
function unmasked(octets: Buffer): { readonly kind: number; readonly payload: string } | undefined {
  if (((octets[1] ?? 0) & 0x80) === 0) return undefined;
  const short = (octets[1] ?? 0) & 0x7f;
  const at = short < 126 ? 2 : short === 126 ? 4 : 10;
  const mask = octets.subarray(at, at + 4);
  const payload = octets.subarray(at + 4).map((octet, index) => octet ^ (mask[index % 4] ?? 0));
  return { kind: (octets[0] ?? 0) & 0x0f, payload: Buffer.from(payload).toString() };
}

t.test('messages are reassembled from any frames, and the frames sent are masked', async (t) => {
  const long = 'ä'.repeat(33_000);
  for (const piece of [1, 7, 100_000]) {
    const last = piece < 100 ? 'short' : long;
    const { written, socket, heard } = await talk(
      switched,
      [
        frame(text, '{"a":1}'),
        frame(text, 'x'.repeat(200)),
        frame(text, 'one', notLast),
        frame(ping, 'still there?'),
        frame(continuation, ', two', notLast),
        frame(pong, ''),
        frame(continuation, ', three'),
        frame(text, last),
      ],
      { piece },
    );
    const head = String(written[0]);
    t.match(head, /^GET \/ HTTP\/1\.1\r\nHost: 127\.0\.0\.1:4711\r\n/);
    t.match(head, /\r\nAuthorization: Bearer a-token\r\n\r\n$/);
    t.notMatch(head, /Origin/i);
    t.strictSame(await heard(), ['{"a":1}', 'x'.repeat(200), 'one, two, three', last]);
    t.strictSame(unmasked(written[1] ?? Buffer.alloc(0)), { kind: pong, payload: 'still there?' });
    for (const said of ['hello', 'y'.repeat(300), long]) {
      socket.send(said);
      t.strictSame(unmasked(written.at(-1) ?? Buffer.alloc(0)), { kind: text, payload: said });
    }
  }
});

t.test('a client rejects a server that refuses the handshake or answers it wrongly', async (t) => {
  const cases: Readonly<Record<string, (key: string) => string>> = {
    'a refusal': () => 'HTTP/1.1 401 Unauthorized\r\n\r\n',
    'a refusal in the form of a consent': (key) => switched(key).replace('101 Switching', '401 Unauthorized'),
    'a page': () => 'HTTP/1.1 200 OK\r\n\r\n',
    nothing: () => '',
    'no HTTP': () => 'SSH-2.0-x\r\n',
    'another key': () => switched('another'),
    'no key': () => 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'half a head': (key) => switched(key).slice(0, -2),
    'a head without an end': (key) => switched(key, Array(200).fill('x: y')),
    'a long line': (key) => switched(key, [`x: ${'y'.repeat(10_000)}`]),
    'an extension': (key) => switched(key, ['Sec-WebSocket-Extensions: permessage-deflate']),
    'a protocol': (key) => switched(key, ['Sec-WebSocket-Protocol: x']),
  };
  for (const [name, answer] of Object.entries(cases)) await t.rejects(talk(answer), Error, name);
});

t.test('a client rejects frames that the WebSocket protocol does not allow', async (t) => {
  const cases: Readonly<Record<string, readonly Buffer[]>> = {
    'a mask': [frame(text, 'x', { second: 0x80 })],
    'a reserved bit': [frame(text, 'x', { first: 0x40 })],
    'octets that are no text': [frame(text, Buffer.from([0xff]))],
    'a binary frame': [frame(binary, 'x')],
    'a frame of no kind': [frame(3, 'x')],
    'a control frame of no kind': [frame(11, 'x')],
    'a part of nothing': [frame(continuation, 'x')],
    'a text within a text': [frame(text, 'x', notLast), frame(text, 'y')],
    'a long ping': [frame(ping, 'x'.repeat(126))],
    'half a ping': [frame(ping, 'x', notLast)],
    'half a frame': [frame(text, 'xxxx').subarray(0, 4)],
    'half a length': [frame(text, 'x'.repeat(200)).subarray(0, 3)],
    'an end': [frame(close, '')],
    'a message too long': [frame(text, 'x'.repeat(70_001))],
    'parts of one too long': [
      frame(text, 'x'.repeat(40_000), notLast),
      frame(continuation, 'x'.repeat(40_000)),
    ],
    'a length beyond everything': [Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255])],
    'frames without an end': Array(51).fill(frame(pong, '')),
    'octets without an end': Array(4).fill(frame(text, 'x'.repeat(60_000))),
  };
  for (const [name, said] of Object.entries(cases)) {
    const { heard } = await talk(switched, said, { within: { ...bounds, maxWaitingBytes: 1_000_000 } });
    await t.rejects(heard(), Error, name);
  }
  const { heard } = await talk(switched, [frame(text, 'x')]);
  t.strictSame(await heard(), ['x'], 'the end of its stream is one');
});

t.test('unread messages are buffered up to a bound', async (t) => {
  const said = [1, 2, 3].map(() => frame(text, 'x'.repeat(40_000)));
  const { socket } = await talk(switched, said, { within: { ...bounds, maxWaitingBytes: 60_000 } });
  const messages = socket.messages[Symbol.asyncIterator]();
  const first = await messages.next();
  t.equal(first.value?.length, 40_000);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = async (): Promise<void> => {
    while ((await messages.next()).done !== true);
  };
  await t.rejects(rest(), { message: 'more than 60000 octets that wait' });
});
