import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { isLong, long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { openGround, type ServedGround } from './open-ground.ts';
import { openSteward } from './open-steward.ts';
import { readAnswers } from './read-answers.ts';
import { markBody, markRequest, markTarget, raw, soundRequest } from './sound-request.ts';

const nothing = { stored: [], published: [] };

/** A connection that never closes its half by itself. */
function openSocket(t: Test, { port }: ServedGround, ...parts: readonly Uint8Array[]): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  for (const part of parts) socket.write(part);
  return socket;
}

/** Everything that comes until the server closes its half, or the connection. */
async function readAll(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return Buffer.concat(parts);
}

/** Whether the server has given the connection back: what is written to one that is gone is answered with a reset. */
async function isGone(socket: Socket): Promise<boolean> {
  for (let round = 0; round < 150 && !socket.destroyed; round += 1) {
    socket.write('x');
    await instant(20);
  }
  return socket.destroyed;
}

long('500 idle connections do not block other clients', async (t) => {
  const place = await openGround(t);
  const steward = await openSteward(t, place);
  const begun = soundRequest(place, { target: markTarget, body: markBody }).subarray(0, 60);
  const idle = Array.from({ length: 500 }, (_, at) =>
    openSocket(t, place, ...(at % 3 === 0 ? [] : at % 3 === 1 ? [begun] : [soundRequest(place)])),
  );
  await Promise.all(idle.map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)));
  t.strictSame(await steward.look(), nothing);
  await steward.ask(markTarget, { paths: ['a'] });
  t.strictSame(await steward.look(), { stored: ['a'], published: ['dirty_marked'] });
  for (const socket of idle) socket.resetAndDestroy();
  t.strictSame(await steward.look(), nothing, 'nor does their end');
  t.strictSame(place.faults, []);
});

long('a client that resets its connection at any point does no harm', async (t) => {
  const place = await openGround(t);
  const steward = await openSteward(t, place);
  const request = markRequest()(place);
  const oversized = markRequest({ 'content-length': '300000' }, ' '.repeat(100_000))(place);
  const events = soundRequest(place, { target: '/api/service/events' });
  const moments = [0, 1, 20, 60, request.length - markBody.length, request.length - 1].map((at) =>
    request.subarray(0, at),
  );
  for (const octets of [...moments, oversized, events, Buffer.concat([events, Buffer.alloc(1000)])]) {
    for (const waitMs of [0, 15]) {
      const socket = openSocket(t, place, octets);
      await once(socket, 'connect');
      if (waitMs > 0) await instant(waitMs);
      socket.resetAndDestroy();
      t.strictSame(await steward.look(), nothing, `after ${octets.length} octets and ${waitMs} ms`);
    }
  }
  for (let round = 0; round < (isLong ? 20 : 6); round += 1) {
    const socket = openSocket(t, place, request);
    await once(socket, 'connect');
    await instant(round / 4);
    socket.resetAndDestroy();
  }
  await lookOn(50);
  const { stored, published } = await steward.look();
  t.ok(
    stored.length <= 1 && published.every((type) => type === 'dirty_marked'),
    'a whole request counts or not',
  );
  t.strictSame(place.faults, []);
});

t.test('closes the connection of a refused client that never closes its half', async (t) => {
  const place = await openGround(t);
  const refused = {
    rubbish: raw(() => 'rubbish\r\n\r\n')(place),
    'a tunnel': soundRequest(place, { method: 'CONNECT', target: 'evil.example:80' }),
    'a body too large': markRequest({ 'content-length': '300000' }, '')(place),
    'an endless header': raw(() => `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}`)(place),
  };
  const gone = Object.entries(refused).map(async ([says, octets]) => {
    const socket = openSocket(t, place, octets);
    const { answers } = readAnswers(await readAll(socket), false);
    return { says, answers: answers.length, isGone: await isGone(socket) };
  });
  for (const { says, ...rest } of await Promise.all(gone))
    t.strictSame(rest, { answers: 1, isGone: true }, says);
  t.strictSame(place.faults, []);
});

t.test('refuses an endless body after reading only part of it', async (t) => {
  const place = await openGround(t);
  const socket = openSocket(t, place, markRequest({ 'transfer-encoding': 'chunked' }, '')(place));
  const chunk = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`);
  let sent = 0;
  const pour = (): void => {
    while (sent < 64 * 1024 * 1024 && !socket.destroyed) {
      sent += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', pour);
  pour();
  const { answers } = readAnswers(await readAll(socket), false);
  t.equal(answers[0]?.status, 413, 'it is told so while it still sends');
  t.ok(sent < 16 * 1024 * 1024, `${sent} octets were sent`);
  const steward = await openSteward(t, place);
  t.strictSame(await steward.look(), nothing);
});

t.test('ignores data sent on an open event stream and closes it if there is too much', async (t) => {
  const place = await openGround(t);
  const steward = await openSteward(t, place);
  const stream = openSocket(t, place, soundRequest(place, { target: '/api/service/events' }));
  let text = '';
  stream.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  while (!text.includes(': open')) await once(stream, 'data');
  stream.write(markRequest()(place));
  stream.write(soundRequest(place, { target: '/api/none' }));
  stream.write('rubbish\r\n\r\n');
  t.strictSame(await steward.look(), nothing, 'nothing is marked');
  while (!text.includes('dirty_marked')) await once(stream, 'data');
  t.equal(text.split('HTTP/1.1').length, 2, 'and nothing is answered');
  stream.write(Buffer.alloc(100 * 1024));
  await new Promise((resolve) => stream.once('close', resolve));
  t.strictSame(await steward.look(), nothing);
  t.strictSame(place.faults, []);
});
