import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { readEventStream, type StreamEvent } from '../../core/base/event-stream.ts';
import { type Bus, openBus } from '../../service/run-service.ts';
import { until } from '../waiting/until.ts';

interface Envelope {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A bus behind a real server, and clients that read it. */
async function openStation(t: {
  teardown(after: () => Promise<void>): void;
  equal(found: unknown, wanted: unknown, says: string): void;
}): Promise<{
  readonly bus: Bus;
  /** A new subscriber; resolves once the service has it. */
  subscribe(
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ next(): Promise<Envelope & Pick<StreamEvent, 'id'>> }>;
  /** The status of a HEAD. */
  head(): Promise<number | undefined>;
}> {
  const bus = openBus({ clock: systemClock });
  const server = createServer((asked, response) => bus.subscribe(asked, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(async () => {
    await bus.end(100);
    server.close();
  });
  return {
    bus,
    async head() {
      const asked = request({ host: '127.0.0.1', port, method: 'HEAD' }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      return answer.resume().statusCode;
    },
    async subscribe(headers = {}) {
      const before = bus.subscribers;
      const asked = get({ host: '127.0.0.1', port, headers });
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      await until(() => bus.subscribers !== before);
      const events = readEventStream(answer);
      return {
        async next() {
          const { value } = await events.next();
          if (value === undefined) throw new Error('the stream ended');
          const envelope = JSON.parse(value.data) as Envelope;
          t.equal(value.type, envelope.type, 'the frame names the type');
          return { ...envelope, id: value.id ?? '' };
        },
      };
    },
  };
}

t.test('numbers events from 1 and starts at 1 again on the next bus', async (t) => {
  for (const _ of ['first', 'after a restart']) {
    const { bus, subscribe } = await openStation(t);
    const client = await subscribe();
    t.strictSame([bus.publish('a', {}), bus.publish('b', {}), bus.publish('c', {})], [1, 2, 3]);
    for (const seq of [1, 2, 3]) t.match(await client.next(), { seq, id: String(seq) });
  }
});

t.test('an event has the fields `seq`, `type`, `at` and `data`', async (t) => {
  const { bus, subscribe } = await openStation(t);
  const client = await subscribe();
  bus.publish('häh', { a: ['\u2028', '\n', '😀'] });
  const { id: _, ...event } = await client.next();
  t.strictSame(Object.keys(event), ['seq', 'type', 'at', 'data']);
  t.strictSame([event.type, event.data], ['häh', { a: ['\u2028', '\n', '😀'] }]);
  t.match(event.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test('delivers the service start event to the first subscriber only', async (t) => {
  const { bus, subscribe } = await openStation(t);
  bus.announce('service_lifecycle', { event: 'started', base_url: 'x' });
  t.equal(bus.publish('lost', {}), 2, 'nobody listened');
  const first = await subscribe();
  t.match(await first.next(), {
    seq: 1,
    type: 'service_lifecycle',
    data: { event: 'started', base_url: 'x' },
  });
  const second = await subscribe();
  bus.publish('both', {});
  t.match(await first.next(), { seq: 3, type: 'both' });
  t.match(await second.next(), { seq: 3, type: 'both' });
  void bus.end(500);
});

t.test('a HEAD request does not consume the event for the first subscriber', async (t) => {
  const { bus, head, subscribe } = await openStation(t);
  bus.announce('service_lifecycle', { event: 'started' });
  t.equal(await head(), 200);
  t.match(await (await subscribe()).next(), { seq: 1, data: { event: 'started' } });
});

t.test('a returning subscriber gets the number of missed events and no replay', async (t) => {
  const { bus, subscribe } = await openStation(t);
  for (let seq = 1; seq <= 5; seq += 1) bus.publish('gone', { seq });
  const missed = async (last: string) => {
    const client = await subscribe({ 'last-event-id': last });
    const seq = bus.publish('now', {});
    const event = await client.next();
    return event.type === 'resync' ? [event.seq, event.data.missed] : event.seq === seq;
  };
  t.strictSame(await missed('2'), [5, 3], 'three of five');
  t.strictSame(await missed('6'), true, 'none');
  t.strictSame(await missed('900'), [7, 7], 'it knows a seq of an earlier service: all of this one');
  for (const odd of ['', '-1', 'x', '1e3', '9'.repeat(20)]) t.strictSame(await missed(odd), true, odd);
});

t.test('does not count the event kept for the first subscriber as missed', async (t) => {
  const { bus, subscribe } = await openStation(t);
  bus.announce('service_lifecycle', { event: 'started' });
  const again = { 'last-event-id': '900' };
  const first = await subscribe(again);
  bus.publish('now', {});
  t.match(await first.next(), { seq: 1, type: 'service_lifecycle' });
  t.match(await first.next(), { seq: 2, type: 'now' });
});
