/* Child program: many subscribers in a process of their own, told over IPC what to do; argument: the port. */
import { connect, type Socket } from 'node:net';
import { readEventStream } from '../../../core/base/event-stream.ts';
import { tickFrame } from './tick-frame.ts';

/** Opens `count` readers that expect exactly these ticks, or as many that stop reading once their stream is open. */
export type Order =
  | {
      readonly do: 'read';
      readonly count: number;
      readonly from: number;
      readonly to: number;
      readonly bytes: number;
    }
  | { readonly do: 'stall'; readonly count: number }
  | { readonly do: 'resume'; readonly lastId: number };

export type Report =
  | { readonly is: 'open' }
  | { readonly is: 'read'; readonly wrong: number }
  | {
      readonly is: 'resumed';
      readonly found: readonly {
        readonly ticks: number;
        readonly ordered: boolean;
        readonly resyncs: readonly string[];
      }[];
    };

const port = Number(process.argv[2]);
const stalled: Socket[] = [];

/** Resolves once headers and the first comment are there, with what came behind. */
function open(): Promise<{ readonly socket: Socket; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'),
    );
    let head = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', function onHead(part: Buffer) {
      head = Buffer.concat([head, part]);
      const end = head.indexOf(': open\n\n');
      if (end < 0) return;
      socket.off('data', onHead);
      socket.pause();
      resolve({ socket, rest: head.subarray(end + 8) });
    });
  });
}

async function readAll({ count, from, to, bytes }: Extract<Order, { do: 'read' }>): Promise<void> {
  const frames: Buffer[] = [];
  for (let seq = from; seq <= to; seq += 1) frames.push(tickFrame(seq, bytes));
  const expected = Buffer.concat(frames);
  const streams = await openMany(count);
  send({ is: 'open' });
  const results = await Promise.all(
    streams.map(
      ({ socket, rest }) =>
        new Promise<boolean>((resolve) => {
          let at = 0;
          const take = (part: Buffer): void => {
            const right = part.equals(expected.subarray(at, at + part.length));
            at += part.length;
            if (!right || at >= expected.length) {
              socket.destroy();
              resolve(right && at === expected.length);
            }
          };
          socket.on('close', () => resolve(false));
          if (rest.length > 0) take(rest);
          socket.on('data', take);
          socket.resume();
        }),
    ),
  );
  send({ is: 'read', wrong: results.filter((right) => !right).length });
}

async function resume({ lastId }: Extract<Order, { do: 'resume' }>): Promise<void> {
  const found = await Promise.all(
    stalled.map(async (socket) => {
      const ids: number[] = [];
      const resyncs: string[] = [];
      for await (const { type, id, data } of readEventStream(socket)) {
        if (type === 'resync') resyncs.push(data);
        else ids.push(Number(id));
        if (Number(id) === lastId && type !== 'resync') break;
      }
      return {
        ticks: ids.length,
        ordered: ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0)),
        resyncs,
      };
    }),
  );
  send({ is: 'resumed', found });
}

async function openMany(count: number): Promise<Awaited<ReturnType<typeof open>>[]> {
  const streams: Awaited<ReturnType<typeof open>>[] = [];
  // A hundred at a time: more do not fit into what a listening socket lets wait.
  while (streams.length < count) {
    const batch = Math.min(100, count - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: batch }, open))));
  }
  return streams;
}

function send(report: Report): void {
  process.send?.(report);
}

process.on('message', async (order: Order) => {
  if (order.do === 'read') return readAll(order);
  if (order.do === 'resume') return resume(order);
  for (const { socket } of await openMany(order.count)) stalled.push(socket);
  send({ is: 'open' });
});
process.on('disconnect', () => process.exit());
