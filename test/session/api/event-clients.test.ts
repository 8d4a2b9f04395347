import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { EventSource } from 'eventsource';
import type { Test } from 'tap';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { serveSession } from './serve-session.ts';

const run = promisify(execFile);
const local = { from: 'local' } as const;

/** A way to a server that can be cut, as a network is. */
async function openCable(t: Test, port: number) {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, cut };
}

long('an EventSource reconnects after a cut and misses nothing', async (t) => {
  const { channel, port } = await serveSession(t, { ground: { local: 'tui' } });
  for (const wire of ['1', '2']) {
    const cable = await openCable(t, port);
    const source = new EventSource(`http://127.0.0.1:${cable.port}/api/code/events?wire=${wire}`);
    t.teardown(() => source.close());
    const heard: { readonly type: string; readonly id: string; readonly status: string }[] = [];
    for (const type of ['session_updated', 'status_changed', 'controller_changed', 'resync'])
      source.addEventListener(type, ({ data, lastEventId }) => {
        const event = JSON.parse(data);
        heard.push({ type, id: lastEventId, status: event.data?.status ?? event.payload.status });
      });
    await until(() => heard.length === 1);
    cable.cut();
    await until(() => source.readyState === EventSource.CONNECTING);
    await channel.send({ type: 'submit', text: 'go on', proof: local });
    await channel.send({ turn: channel.state.turn ?? '', type: 'end', end: 'done' });
    await until(() => heard.some(({ status }, at) => at > 0 && status === 'idle'));
    t.strictSame(
      heard.slice(1).map(({ type, status }) => [type, status]),
      [
        ['status_changed', 'thinking'],
        ['status_changed', 'idle'],
      ],
      `wire ${wire}`,
    );
  }
});

long('curl reads the events and resumes after a given one', async (t) => {
  const { channel, port } = await serveSession(t, { ground: { local: 'tui' } });
  const url = `http://127.0.0.1:${port}/api/code/events`;
  const curl = async (...more: readonly string[]): Promise<string> => {
    const { stdout } = await run('curl', ['-sN', '-m', '1', ...more, url]).catch((fault) => fault);
    return stdout;
  };
  const first = await curl();
  t.match(first, /^: open\n\nevent: session_updated\nid: \d+\ndata: \{"seq":\d+,.*\}\n\n$/);
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const id = /id: (\d+)/.exec(first)?.[1] ?? '';
  t.match(
    await curl('-H', `Last-Event-ID: ${id}`),
    /^: open\n\nevent: status_changed\nid: \d+\ndata: .*\n\n$/,
  );
  t.match(await curl('-I'), /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/i);
});
