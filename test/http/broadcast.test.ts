import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import type { Broadcast } from '../../http/broadcast.ts';
import { long } from '../rooms/long.ts';
import { until } from '../waiting/until.ts';
import { startReaders } from './broadcast/start-readers.ts';
import { openClient, startStreamServer } from './broadcast/start-stream-server.ts';
import { tickFrame } from './broadcast/tick-frame.ts';

/** What the system takes for one socket that nobody reads is below 4 MiB; this is safely more. */
const beyondKernel = 6 * 1024 * 1024;

/** Publishes in turns of the event loop, as requests come in. */
async function publishSteadily(broadcast: Broadcast, from: number, to: number, bytes: number): Promise<void> {
  for (let seq = from; seq <= to; seq += 1) {
    broadcast.publish(seq, tickFrame(seq, bytes));
    if (seq % 64 === 0) await nextTurn();
  }
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

t.test('a new subscriber gets only events that are published after it was added', async (t) => {
  const { broadcast, port } = await startStreamServer(t, { windowMs: 100 }, (_, response, all) => {
    all.publish(10, tickFrame(10, 100));
    all.publish(11, tickFrame(11, 100));
    all.add(response);
    all.publish(12, tickFrame(12, 100));
  });
  const early = openClient(port);
  await early.sees('id: 12\n');
  const late = openClient(port);
  await late.sees('id: 12\n');
  await early.sees('id: 11\n');
  t.notMatch(late.text(), /id: 1[01]\n/);
  t.equal(
    early
      .text()
      .match(/id: 1[012]\n/g)
      ?.join(''),
    'id: 12\nid: 10\nid: 11\nid: 12\n',
  );
  t.equal(broadcast.size, 2);
});

t.test('sends the first event after a pause at once and batches those that follow', async (t) => {
  const { broadcast, port, sockets } = await startStreamServer(t, { windowMs: 500 });
  const client = openClient(port);
  await client.sees(': open');
  const written = (): number => sockets[0]?.bytesWritten ?? 0;
  const before = written();
  broadcast.publish(1, Buffer.from('1'));
  await nextTurn();
  await nextTurn();
  t.equal(written() - before, 1);
  for (let seq = 2; seq < 8; seq += 1) {
    broadcast.publish(seq, Buffer.from(String(seq)));
    await nextTurn();
  }
  t.equal(written() - before, 1);
  await client.sees('\n1234567');
  const full = Buffer.alloc(1000, 'x');
  for (let seq = 8; seq < 8 + 128; seq += 1) broadcast.publish(seq, full);
  await nextTurn();
  await nextTurn();
  t.equal(written() - before, 7 + 128_000, '128 events do not wait');
});

long('50 stalled subscribers get one resync each while 950 others get every event', async (t) => {
  const { broadcast, port, sockets, resyncs } = await startStreamServer(t);
  const readers = startReaders(port);
  t.teardown(() => readers.stop());
  readers.order({ do: 'stall', count: 50 });
  await readers.report('open');
  t.equal(broadcast.size, 50);
  await publishSteadily(broadcast, 1, 6_000, 1024);
  readers.order({ do: 'read', count: 950, from: 6_001, to: 6_600, bytes: 1024 });
  await readers.report('open');
  t.equal(broadcast.size, 1000);
  // As fast as those who read are let read by the machine; nobody waits for the stalled ones.
  const reading = sockets.slice(50);
  for (let from = 6_001; from <= 6_600; from += 60) {
    await publishSteadily(broadcast, from, from + 59, 1024);
    await until(() => reading.every((socket) => socket.writableLength === 0));
  }
  t.equal((await readers.report('read')).wrong, 0);
  await until(() => broadcast.size === 50);
  t.equal(resyncs.length, 0);
  readers.order({ do: 'resume', lastId: 6_601 });
  await until(() => resyncs.length === 50);
  broadcast.publish(6_601, tickFrame(6_601, 1024));
  const { found } = await readers.report('resumed');
  t.equal(found.length, 50);
  for (const { ticks, ordered, resyncs: got } of found) {
    t.equal(got.length, 1);
    const { missed } = JSON.parse(got[0] ?? '{}');
    t.ok(ordered && missed > 1000, `missed ${missed}`);
    t.equal(ticks + missed, 6_601);
  }
  t.ok(resyncs.every(([, lastSeq]) => lastSeq === 6_600));
});

t.test('a burst of 10,000 events reaches readers without waiting for stalled subscribers', async (t) => {
  // A machine under load must not make a reader late: only this clock ends the patience.
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const { broadcast, port, resyncs } = await startStreamServer(t, { clock, burstPatienceMs: 60_000 });
  const readers = startReaders(port);
  t.teardown(() => readers.stop());
  readers.order({ do: 'stall', count: 5 });
  await readers.report('open');
  readers.order({ do: 'read', count: 20, from: 1, to: 10_000, bytes: 1024 });
  await readers.report('open');
  for (let seq = 1; seq <= 10_000; seq += 1) broadcast.publish(seq, tickFrame(seq, 1024));
  t.equal((await readers.report('read')).wrong, 0);
  t.equal(resyncs.length, 0);
  aheadMs = 60_001;
  broadcast.publish(10_001, tickFrame(10_001, 1024));
  // The clock has gone on by more than a window: the turn comes at once.
  await nextTurn();
  await nextTurn();
  readers.order({ do: 'resume', lastId: 10_002 });
  await until(() => resyncs.length === 5);
  broadcast.publish(10_002, tickFrame(10_002, 1024));
  for (const { ticks, resyncs: got } of (await readers.report('resumed')).found) {
    t.equal(got.length, 1);
    t.equal(ticks + JSON.parse(got[0] ?? '{}').missed, 10_002);
  }
});

long('memory stays bounded while subscribers are stalled', async (t) => {
  const { broadcast, port } = await startStreamServer(t);
  const readers = startReaders(port);
  t.teardown(() => readers.stop());
  readers.order({ do: 'stall', count: 20 });
  await readers.report('open');
  await publishSteadily(broadcast, 1, 400, 16 * 1024);
  collect();
  const before = process.memoryUsage.rss();
  let most = 0;
  for (let from = 401; from < 6_800; from += 640) {
    await publishSteadily(broadcast, from, from + 639, 16 * 1024);
    collect();
    most = Math.max(most, process.memoryUsage.rss() - before);
  }
  t.comment(`100 MiB to 20 subscribers: ${(most / 1024 / 1024).toFixed(1)} MiB more`);
  t.ok(most < 64 * 1024 * 1024, `${most} octets more`);
});

t.test('stalled subscribers get one resync after a burst beyond the memory limit', async (t) => {
  const { broadcast, port, resyncs } = await startStreamServer(t, { maxHeldBytes: 1024 * 1024 });
  const readers = startReaders(port);
  t.teardown(() => readers.stop());
  readers.order({ do: 'stall', count: 2 });
  await readers.report('open');
  for (let seq = 1; seq <= 200; seq += 1) broadcast.publish(seq, tickFrame(seq, 64 * 1024));
  readers.order({ do: 'resume', lastId: 201 });
  await until(() => resyncs.length === 2);
  broadcast.publish(201, tickFrame(201, 1024));
  for (const { ticks, resyncs: got } of (await readers.report('resumed')).found) {
    t.equal(got.length, 1);
    t.equal(ticks + JSON.parse(got[0] ?? '{}').missed, 201);
  }
});

t.test('a lagging subscriber with a small buffer still gets its resync', async (t) => {
  // Each is published in a window of its own, however long a turn takes.
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const { broadcast, port, sockets, resyncs } = await startStreamServer(t, { maxQueuedEvents: 2, clock });
  const client = openClient(port);
  await client.sees(': open');
  client.socket.pause();
  const [socket] = sockets;
  let seq = 0;
  while (socket?.writableLength === 0 && seq < 100_000) {
    seq += 1;
    broadcast.publish(seq, tickFrame(seq, 600));
    if (seq % 2 === 0) await nextTurn();
  }
  for (let more = 0; more < 10; more += 1) {
    seq += 1;
    aheadMs += 6;
    broadcast.publish(seq, tickFrame(seq, 600));
    await nextTurn();
    await nextTurn();
  }
  t.ok((socket?.writableLength ?? 0) < 2048, 'below any high-water mark');
  client.socket.resume();
  await client.sees('event: resync\n');
  t.equal(resyncs.length, 1);
  t.equal((client.text().match(/event: tick\n/g)?.length ?? 0) + (resyncs[0]?.[0] ?? 0), seq);
});

t.test('a resync covers every published event, so none of them follows it', async (t) => {
  const { broadcast, port, sockets, resyncs } = await startStreamServer(t, {
    maxHeldBytes: 1024 * 1024,
    windowMs: 60_000,
  });
  const client = openClient(port);
  await client.sees(': open');
  client.socket.pause();
  for (let seq = 1; seq <= 200; seq += 1) broadcast.publish(seq, tickFrame(seq, 64 * 1024));
  await until(() => (sockets[0]?.writableLength ?? 0) > 0);
  // It is in a window that does not end in this test.
  broadcast.publish(201, tickFrame(201, 100));
  client.socket.resume();
  await client.sees('event: resync\nid: 201\n');
  t.strictSame(
    resyncs.map(([, lastSeq]) => lastSeq),
    [201],
  );
  t.notMatch(client.text(), /id: 201\n[\s\S]*id: 201\n/);
});

t.test('an idle stream gets keep-alives, while a stalled one is dropped after a timeout', async (t) => {
  // Only this clock ends the patience with the stalled one.
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  const { broadcast, port, sockets } = await startStreamServer(t, {
    clock,
    keepAliveMs: 20,
    maxStallMs: 600_000,
  });
  const idle = openClient(port);
  await idle.sees(': open');
  const stalled = openClient(port);
  await stalled.sees(': open');
  await idle.sees(': open\n\n:\n\n:\n\n');
  stalled.socket.pause();
  const before = idle.text().length;
  const idleHas = (more: number): Promise<void> => until(() => idle.text().length >= before + more);
  // One frame: nothing else waits for it, and only its socket says that it is full.
  broadcast.publish(1, Buffer.alloc(beyondKernel, ':'));
  await until(() => (sockets[1]?.writableLength ?? 0) > 0);
  // The frame, and what keeps alive a few times.
  await idleHas(beyondKernel + 3 * 3);
  const held = sockets[1]?.bytesWritten;
  await idleHas(beyondKernel + 8 * 3);
  t.equal(sockets[1]?.bytesWritten, held);
  t.equal(broadcast.size, 2);
  aheadMs = 600_001;
  await until(() => broadcast.size === 1);
  t.notOk(sockets[0]?.destroyed);
  t.ok(sockets[1]?.destroyed);
});

t.test('an end delivers all published events and drops stalled subscribers after the timeout', async (t) => {
  const { broadcast, port, sockets } = await startStreamServer(t);
  const reading = openClient(port);
  const stalled = openClient(port);
  await Promise.all([reading.sees(': open'), stalled.sees(': open')]);
  stalled.socket.pause();
  for (let seq = 1; seq <= 100; seq += 1) broadcast.publish(seq, Buffer.alloc(beyondKernel / 100, ':'));
  await until(() => sockets.some((socket) => socket.writableLength > 0));
  broadcast.publish(101, tickFrame(101, 100));
  const ended = broadcast.end(4_000);
  t.equal(broadcast.end(10_000), ended, 'a second end is the first one');
  await reading.closed;
  t.equal(broadcast.size, 1, 'the stalled client still has time');
  t.match(reading.text(), /id: 101\n/);
  await ended;
  t.equal(broadcast.size, 0);
  const late = openClient(port);
  await late.closed;
  t.equal(late.text(), '');
  broadcast.publish(102, tickFrame(102, 100));
  await broadcast.end(0);
});

t.test('disconnected clients leave no sockets, listeners or events behind', async (t) => {
  const { broadcast, port, server, sockets } = await startStreamServer(t);
  const listeners = (): readonly number[] => server.eventNames().map((name) => server.listenerCount(name));
  const before = listeners();
  const warnings: Error[] = [];
  const warned = (warning: Error): number => warnings.push(warning);
  process.on('warning', warned);
  t.teardown(() => process.off('warning', warned));
  const clients = Array.from({ length: 60 }, () => openClient(port));
  await Promise.all(clients.map((client) => client.sees(': open')));
  t.equal(broadcast.size, 60);
  for (let seq = 1; seq <= 300; seq += 1) {
    broadcast.publish(seq, tickFrame(seq, 2_000));
    if (seq % 5 === 0) {
      const socket = clients[seq / 5 - 1]?.socket;
      if (seq % 3 === 0) socket?.resetAndDestroy();
      else if (seq % 2 === 0) socket?.end();
      else socket?.destroy();
      await nextTurn();
    }
  }
  await until(() => broadcast.size === 0);
  t.ok(sockets.every((socket) => socket.destroyed));
  t.strictSame(listeners(), before);
  t.strictSame(warnings, []);
  const again = openClient(port);
  await again.sees(': open');
  broadcast.publish(301, tickFrame(301, 100));
  t.notMatch(await again.sees('id: 301\n'), /id: 300\n/, 'what nobody took is forgotten');
});

t.test('refuses a stream beyond the limit with TOO_MANY_SUBSCRIBERS', async (t) => {
  const { broadcast, port } = await startStreamServer(t, { maxSubscribers: 2 }, (_, response, all) => {
    try {
      all.add(response);
    } catch (thrown) {
      response.statusCode = 503;
      response.end((thrown as { code: string }).code);
    }
  });
  const clients = [openClient(port), openClient(port)];
  await Promise.all(clients.map((client) => client.sees(': open')));
  const third = openClient(port);
  t.match(await third.sees('TOO_MANY_SUBSCRIBERS'), /^HTTP\/1\.1 503 /);
  t.equal(broadcast.size, 2);
  clients[0]?.socket.destroy();
  await until(() => broadcast.size === 1);
  await openClient(port).sees(': open');
});
