/*
 * `npm run bench:session-events`: what readers of a session's events wait for, and what they cost. From a message to
 * the first snapshot of it, over a bare loop that does the same; 1,000 changes a second to 100 readers; 1,000 readers
 * of snapshots, 50 of which read nothing. Exit 1 where a figure is missed.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../core/base/clock.ts';
import { startLoopbackServer } from '../http/loopback-server.ts';
import { sessionRoutes } from '../session/api/session-routes.ts';
import { openChannel } from '../session/open-channel.ts';
import { toSnapshot } from '../session/state/snapshot.ts';
import { newWorld } from '../test/session/state/walk.ts';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

const lastWord = 'the-last-word';
const local = { from: 'local' } as const;

/** A session in memory with some past, behind a real server. */
async function openServed(entries: number) {
  let ids = 0;
  const channel = openChannel({
    state: newWorld({ local: 'tui' }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async () => {},
  });
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: sessionRoutes({ channel: () => channel, clock: systemClock }),
    body: { maxBytes: 256 * 1024, withinMs: 5000, maxDepth: 16 },
    headersWithinMs: 5000,
    report: (fault) => {
      throw fault;
    },
  });
  const begin = async (): Promise<string> => {
    await channel.send({ type: 'submit', text: 'go on', proof: local });
    return channel.state.turn ?? '';
  };
  const end = (turn: string) => channel.send({ turn, type: 'end', end: 'done' });
  for (let n = 0; n < entries; n += 1) await end(await begin());
  const close = async (): Promise<void> => {
    await channel[Symbol.asyncDispose]();
    await server.close(100);
  };
  return { channel, port: Number(new URL(server.baseUrl).port), begin, end, close };
}

/** The first time that a text comes over a stream, from now on. */
function openReader(port: number, path: string) {
  let text = '';
  let wanted: { readonly part: string; readonly resolve: () => void } | undefined;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`),
  );
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
    if (wanted === undefined || !text.includes(wanted.part)) return;
    wanted.resolve();
    wanted = undefined;
  });
  return {
    sees: (part: string) =>
      new Promise<void>((resolve) => {
        text = '';
        wanted = { part, resolve };
      }),
    close: () => socket.destroy(),
  };
}

async function post(
  port: number,
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<string> {
  const asked = request({
    port,
    host: '127.0.0.1',
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  asked.end(JSON.stringify(body));
  const [answer] = await once(asked, 'response');
  let said = '';
  for await (const part of answer.setEncoding('utf8')) said += part;
  return said;
}

/** Milliseconds from a message sent to its first snapshot read; a bare loop answers and writes as much, and no more. */
async function benchFirstSnapshot(): Promise<boolean> {
  const served = await openServed(sized(100, 5));
  const origin = { origin: `http://127.0.0.1:${served.port}` };
  const attached = await post(served.port, '/api/code/controller/attach', origin, { clientId: 'c' });
  const held = { 'x-code-controller-token': String(JSON.parse(attached).controllerToken) };
  const text = JSON.stringify(toSnapshot(served.channel.state));
  let stream: ServerResponse | undefined;
  const bare = createServer((asked, response) => {
    if (asked.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': open\n\n');
      return;
    }
    asked.resume().on('end', () => {
      stream?.write(`event: status_changed\nid: 1\ndata: ${JSON.stringify(JSON.parse(text))}\n\n`);
      response.end('{}');
    });
  });
  bare.listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const { port: barePort } = bare.address() as AddressInfo;
  const readers = [openReader(served.port, '/api/code/events'), openReader(barePort, '/')] as const;
  await Promise.all(readers.map((reader) => reader.sees(': open')));
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let n = 0; n < sized(60, 3); n += 1) {
    for (const [name, port, reader] of [
      ['ours', served.port, readers[0]],
      ['bare', barePort, readers[1]],
    ] as const) {
      const seen = reader.sees('event: status_changed');
      const started = performance.now();
      const answered = post(port, '/api/code/messages', name === 'ours' ? held : {}, { text: 'xyz' });
      await seen;
      times[name].push(performance.now() - started);
      await answered;
      if (name === 'ours') await served.end(served.channel.state.turn ?? '');
    }
    await pause(520);
  }
  for (const reader of readers) reader.close();
  bare.closeAllConnections();
  bare.close();
  await served.close();
  const [ours, theirs] = [median(times.ours), median(times.bare)];
  const detail = `${ours.toFixed(2)} ms against ${theirs.toFixed(2)} ms, snapshot of ${(text.length / 1024).toFixed(0)} KiB`;
  return figure('message to first snapshot, over a bare loop', ours - theirs, 5, 'ms', detail);
}

/** Readers in a second process: how many events the last of them had when all had the last word, and in what time. */
async function withReaders<T>(
  port: number,
  path: string,
  count: number,
  stalled: number,
  work: () => Promise<T>,
) {
  const child = fork(import.meta.filename, ['readers', String(port), path, String(count), String(stalled)]);
  await once(child, 'message');
  const done = once(child, 'message');
  const started = performance.now();
  const worked = await work();
  const [events] = (await done) as [number];
  const took = (performance.now() - started) / 1000;
  child.disconnect();
  await once(child, 'exit');
  return { events, worked, took };
}

const collect = ((): (() => void) => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

/** So many changes a second for some seconds; answers how much more memory is used in the second half than before. */
async function speak(served: Awaited<ReturnType<typeof openServed>>, seconds: number): Promise<number> {
  const turn = await served.begin();
  const started = performance.now();
  let said = 0;
  let before = 0;
  let most = 0;
  while (said < 1000 * seconds) {
    const due = Math.min(1000 * seconds, performance.now() - started);
    for (; said < due; said += 1) {
      // A new entry every second: what a model says is no book.
      const id = `r${Math.floor(said / 1000)}`;
      await served.channel.send({ turn, type: 'replying', id, text: `word ${said} ` });
    }
    if (said % 500 < 20) {
      collect();
      const { rss } = process.memoryUsage();
      if (said < 500 * seconds) before = rss;
      else most = Math.max(most, rss - before);
    }
    await pause(5);
  }
  await served.channel.send({ turn, type: 'replied', id: 'r', text: lastWord });
  await served.end(turn);
  return most / 1024 / 1024;
}

async function benchThousandChanges(): Promise<readonly boolean[]> {
  const seconds = sized(10, 1);
  const served = await openServed(20);
  const {
    events,
    worked: more,
    took,
  } = await withReaders(served.port, '/api/code/events?wire=2', sized(100, 10), 0, () =>
    speak(served, seconds),
  );
  await served.close();
  if (events < 1000 * seconds) throw new Error(`${events} events of ${1000 * seconds}`);
  return [
    figure(
      '1,000 changes a second to 100 readers, time',
      took / seconds,
      1.25,
      'x',
      `${events} events to the slowest in ${took.toFixed(1)} s`,
    ),
    figure(
      '1,000 changes a second to 100 readers, memory',
      more,
      32,
      'MB',
      'more in the second half than before it',
    ),
  ];
}

async function benchStalled(): Promise<readonly boolean[]> {
  const seconds = sized(10, 1);
  const served = await openServed(20);
  const count = sized(1000, 20);
  const {
    events,
    worked: more,
    took,
  } = await withReaders(served.port, '/api/code/events', count, count / 20, () => speak(served, seconds));
  await served.close();
  return [
    figure(
      '1,000 readers of snapshots, 50 stalled: time',
      took / seconds,
      2,
      'x',
      `the slowest had ${events} snapshots in ${took.toFixed(1)} s`,
    ),
    figure(
      '1,000 readers of snapshots, 50 stalled: memory',
      more,
      64,
      'MB',
      'more in the second half than before it',
    ),
  ];
}

/** Child: opens readers, of which some read nothing; tells when all others have had the last word. */
async function runReaders(port: number, path: string, count: number, stalled: number): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let left = count - stalled;
  const open = (reads: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`),
      );
      let tail = '';
      let events = 0;
      let isOver = false;
      socket.setEncoding('latin1').on('error', reject);
      socket.on('data', (part: string) => {
        if (events === 0) resolve();
        if (!reads) {
          socket.pause();
          return;
        }
        const text = tail + part;
        events += text.split('\nid: ').length - 1;
        if (!isOver && text.includes(lastWord)) {
          isOver = true;
          left -= 1;
          least = Math.min(least, events);
          if (left === 0) process.send?.(least);
        }
        // Whatever is cut in two is in what is kept, and counted there.
        const kept = text.slice(-lastWord.length);
        tail = kept.includes('\nid: ') ? kept.slice(kept.indexOf('\nid: ') + 1) : kept;
      });
    });
  for (let opened = 0; opened < count; opened += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, count - opened) }, (_, at) => open(opened + at >= stalled)),
    );
  process.on('disconnect', () => process.exit());
  process.send?.('open');
}

if (process.argv[2] === 'readers') {
  const [, , , port, path = '', count, stalled] = process.argv;
  await runReaders(Number(port), path, Number(count), Number(stalled));
} else {
  const held = [await benchFirstSnapshot(), ...(await benchThousandChanges()), ...(await benchStalled())];
  printTable();
  process.exitCode = held.every(Boolean) ? 0 : 1;
}
