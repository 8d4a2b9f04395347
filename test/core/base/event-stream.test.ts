import { Readable } from 'node:stream';
import t from 'tap';
import { isWritError } from '../../../core/base/errors.ts';
import { readEventStream, type StreamEvent } from '../../../core/base/event-stream.ts';
import { toFrame } from '../../../http/broadcast.ts';

async function* pieces(bytes: Uint8Array, size: number, closed?: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < bytes.length; at += size) {
      yield bytes.subarray(at, at + size);
      yield new Uint8Array();
    }
  } finally {
    closed?.();
  }
}

async function read(stream: string | Uint8Array, size = 1, maxEventBytes?: number): Promise<StreamEvent[]> {
  const bytes = typeof stream === 'string' ? Buffer.from(stream) : stream;
  const options = maxEventBytes === undefined ? {} : { maxEventBytes };
  const events: StreamEvent[] = [];
  for await (const event of readEventStream(pieces(bytes, size), options)) events.push(event);
  return events;
}

const cases: readonly (readonly [string, string, readonly StreamEvent[]])[] = [
  ['type, id and data', 'event: a\nid: 7\ndata: {"x":1}\n\n', [{ type: 'a', id: '7', data: '{"x":1}' }]],
  ['no type', 'data: x\n\n', [{ type: 'message', data: 'x' }]],
  [
    'CRLF and CR',
    'data: x\r\nevent: t\r\n\r\ndata: y\r\r',
    [
      { type: 't', data: 'x' },
      { type: 'message', data: 'y' },
    ],
  ],
  ['several data lines', 'data: a\ndata\ndata:b\n\n', [{ type: 'message', data: 'a\n\nb' }]],
  ['comments', ': open\n\n:\n\ndata: x\n: within\n\n:\n\n', [{ type: 'message', data: 'x' }]],
  ['one byte order mark', '\uFEFFdata: x\n\n', [{ type: 'message', data: 'x' }]],
  [
    'a second byte order mark is part of the field',
    '\uFEFF\uFEFFdata: x\n\ndata: y\n\n',
    [{ type: 'message', data: 'y' }],
  ],
  ['characters of two, three and four octets', 'data: é…😀\n\n', [{ type: 'message', data: 'é…😀' }]],
  ['an event without its blank line is none', 'data: x\n\ndata: y\n', [{ type: 'message', data: 'x' }]],
  ['an event without data is none', 'event: a\nid: 1\n\n', []],
  ['unknown fields and odd retry times', 'foo: 1\nretry: x\ndata: y\n\n', [{ type: 'message', data: 'y' }]],
];

t.test('an event stream is parsed the same for every chunk size', async (t) => {
  for (const [name, stream, expected] of cases) {
    for (const size of [1, 2, 3, 5, 1000])
      t.strictSame(await read(stream, size), expected, `${name}, by ${size}`);
  }
});

t.test('invalid UTF-8 becomes replacement characters', async (t) => {
  const stream = Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff, 0xc3]), Buffer.from('b\n\n')]);
  t.strictSame(await read(stream), [{ type: 'message', data: 'a\uFFFD\uFFFDb' }]);
});

t.test('type and data cannot add a line to a frame', async (t) => {
  const ends = ['\n', '\r', '\r\n', '\0', '\v', '\f', '\u001c', '\u0085', '\u2028', '\u2029'];
  for (const end of ends) {
    const data = { text: `a${end}data: forged${end}${end}` };
    const frame = toFrame({ type: `resync${end}data: forged`, id: 3, data: JSON.stringify(data, null, 1) });
    const [event, ...more] = await read(frame);
    t.strictSame(more, []);
    t.strictSame(JSON.parse(event?.data ?? ''), data, 'the value of the data stays');
    t.equal(event?.id, '3');
    t.match(event?.type, /^resync\uFFFD+data: forged$/);
    // As careless clients split lines.
    t.equal(frame.toString().split(/[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/).length, 5);
  }
  t.strictSame(
    toFrame({ type: 'é', id: 1, data: '{"at":"…"}' }),
    Buffer.from('event: é\nid: 1\ndata: {"at":"…"}\n\n'),
  );
});

t.test('an event above the size limit is an error, and its source is closed', async (t) => {
  const data = (bytes: number): string => 'é'.repeat(bytes / 2);
  const event = { type: 'abcd', id: '12', data: data(994) };
  const frame = `event: abcd\nid: 12\ndata: ${event.data}\n\n`;
  for (const size of [1, 64, 5000]) {
    t.strictSame(await read(frame, size, 1000), [event], 'exactly the bound');
    await t.rejects(read(frame, size, 999), { code: 'EVENT_TOO_LARGE' }, 'one octet more');
    for (const endless of [`data: ${data(3000)}`, 'data: x\n'.repeat(2000), `id: ${data(3000)}`]) {
      await t.rejects(read(endless, size, 1000), { code: 'EVENT_TOO_LARGE' });
    }
  }
  let closed = false;
  const found: StreamEvent[] = [];
  const bytes = Buffer.from(`data: first\n\n${frame}`);
  try {
    for await (const one of readEventStream(
      pieces(bytes, 5000, () => {
        closed = true;
      }),
      { maxEventBytes: 100 },
    )) {
      found.push(one);
    }
    t.fail('must be refused');
  } catch (thrown) {
    t.ok(isWritError(thrown, 'EVENT_TOO_LARGE'));
  }
  t.ok(closed);
  t.strictSame(found, [{ type: 'message', data: 'first' }], 'what came whole before is delivered');
});

t.test(
  'reads a line of 4 MiB that comes in small pieces, and keeps nothing of an endless comment',
  async (t) => {
    const bytes = 4 * 1024 * 1024;
    const line = Buffer.from(`data: ${'x'.repeat(bytes - 7)}\n\n`);
    const parts: Buffer[] = [];
    for (let at = 0; at < line.length; at += 512) parts.push(line.subarray(at, at + 512));
    let event: StreamEvent | undefined;
    for await (const one of readEventStream(Readable.from(parts))) event = one;
    t.equal(event?.data.length, bytes - 7);
    t.strictSame(await read(`:${'x'.repeat(bytes)}`, 4096, 1000), []);
  },
);
