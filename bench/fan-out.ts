/*
 * `npm run bench:fan-out`: events to 1,000 subscribers in a second process, deliveries counted there, against a bare
 * `node:http` loop that writes one frame per event and subscriber. Exit 1 where ours is not at least twice as fast.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBroadcast, toFrame } from '../http/broadcast.ts';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

const subscribers = sized(1000, 100);
const rounds = sized(5, 1);
const lastMark = '"last":true';

/** Events in all, and how many callers publish in one turn of the event loop. */
const patterns = {
  '16 callers a turn': { events: 320, perTurn: 16 },
  '1 event a turn': { events: 160, perTurn: 1 },
} as const;
type Pattern = (typeof patterns)[keyof typeof patterns];

interface Fan {
  readonly add: (response: ServerResponse) => void;
  readonly publish: (seq: number, frame: Buffer) => void;
}

function ours(): Fan {
  const broadcast = createBroadcast({
    resyncFrame: () => {
      throw new Error('a subscriber lags: the round counts less than it sent');
    },
  });
  return { add: (response) => broadcast.add(response), publish: broadcast.publish };
}

function bare(): Fan {
  const responses: ServerResponse[] = [];
  return {
    add: (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': open\n\n');
      responses.push(response);
    },
    publish: (_seq, frame) => {
      for (const response of responses) response.write(frame);
    },
  };
}

/** Deliveries per second, from the first event published to the last delivery counted at the client. */
async function round(fan: Fan, { events, perTurn }: Pattern): Promise<number> {
  const server = createServer((_request, response) => fan.add(response));
  server.listen(0, '127.0.0.1', 1024);
  await once(server, 'listening');
  const client = fork(import.meta.filename, ['client', String((server.address() as AddressInfo).port)]);
  await once(client, 'message');
  const counted = once(client, 'message');
  const started = performance.now();
  for (let seq = 1; seq <= events; seq += 1) {
    const data = JSON.stringify({
      seq,
      type: 'stage_settled',
      at: '2030-01-01T00:00:00.000Z',
      data: { run_id: 'r'.repeat(36), pad: 'x'.repeat(120) },
      last: seq === events,
    });
    fan.publish(seq, toFrame({ type: 'stage_settled', id: seq, data }));
    if (seq % perTurn === 0) await nextTurn();
  }
  const [deliveries] = (await counted) as [number];
  const seconds = (performance.now() - started) / 1000;
  if (deliveries !== events * subscribers)
    throw new Error(`${deliveries} deliveries of ${events * subscribers}`);
  client.disconnect();
  await once(client, 'exit');
  server.closeAllConnections();
  server.close();
  return deliveries / seconds;
}

/** Counts the ends of frames on every connection until each has had the last event. */
async function runClient(port: number): Promise<void> {
  let deliveries = 0;
  let finished = 0;
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let tail = '';
      let head = true;
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'),
      );
      socket.setEncoding('latin1');
      socket.on('error', reject);
      socket.on('data', (part: string) => {
        const text = tail + part;
        let at = 0;
        if (head) {
          const end = text.indexOf(': open\n\n');
          tail = text;
          if (end < 0) return;
          at = end + 8;
          head = false;
          resolve();
        }
        for (let end = text.indexOf('\n\n', at); end >= 0; end = text.indexOf('\n\n', at)) {
          deliveries += 1;
          if (text.slice(end - lastMark.length - 1, end - 1) === lastMark) finished += 1;
          at = end + 2;
        }
        tail = text.slice(at);
        if (finished === subscribers) process.send?.(deliveries);
      });
    });
  for (let opened = 0; opened < subscribers; opened += 100) {
    await Promise.all(Array.from({ length: 100 }, open));
  }
  process.on('disconnect', () => process.exit());
  process.send?.('open');
}

async function benchFanOut(): Promise<boolean> {
  const held: boolean[] = [];
  for (const [name, pattern] of Object.entries(patterns)) {
    const rates = { ours: [] as number[], bare: [] as number[] };
    for (let n = 0; n < rounds; n += 1) {
      rates.ours.push(await round(ours(), pattern));
      rates.bare.push(await round(bare(), pattern));
    }
    const [fast, slow] = [median(rates.ours), median(rates.bare)];
    const detail = `${(fast / 1000).toFixed(0)} k against ${(slow / 1000).toFixed(0)} k deliveries/s: ${(fast / slow).toFixed(1)} times as many`;
    held.push(figure(`${name}, bare / ours`, slow / fast, 0.5, 'x', detail));
  }
  return held.every(Boolean);
}

if (process.argv[2] === 'client') await runClient(Number(process.argv[3]));
else {
  const held = await benchFanOut();
  printTable();
  process.exitCode = held ? 0 : 1;
}
