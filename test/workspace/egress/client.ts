import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NetworkUse } from '../../../core/interfaces/scanner.ts';
import { type EgressOptions, startEgressProxy } from '../../../workspace/egress/egress-proxy.ts';
import type { Outside } from '../../../workspace/egress/outside.ts';

interface Teardown {
  teardown(act: () => unknown): void;
}

/** An address of no one of ours that every judgement calls public. */
export const publicAddress = '93.184.215.14';

/** A network in which names mean what a test says, and every address leads to the local server of its port. */
export class FakeOutside implements Outside {
  readonly names = new Map<string, readonly string[]>();
  readonly ports = new Map<number, number>();
  readonly own: string[] = [];
  readonly asked: string[] = [];
  readonly connected: string[] = [];

  async resolve(host: string): Promise<readonly string[]> {
    this.asked.push(host);
    const found = this.names.get(host);
    if (!found) throw new Error('no such name');
    return found;
  }

  connect(address: string, port: number): Socket {
    this.connected.push(`${address} ${port}`);
    return connect({ port: this.ports.get(port) ?? 1, host: '127.0.0.1', allowHalfOpen: true });
  }

  ownAddresses(): readonly string[] {
    return this.own;
  }
}

/** A server on a free loopback port. */
export async function listening(t: Teardown, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An origin that tells what it was asked. */
export async function origin(t: Teardown, listener?: RequestListener) {
  const seen: { request: IncomingMessage; body: string }[] = [];
  const port = await listening(
    t,
    createHttp((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        seen.push({ request, body });
        if (listener) listener(request, response);
        else response.end('hello');
      });
    }),
  );
  return { port, seen };
}

/** A server that keeps what it gets and answers each chunk with `pong`. */
export async function rawOrigin(t: Teardown) {
  const got: Buffer[] = [];
  const port = await listening(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        got.push(chunk);
        socket.write('pong');
      });
    }),
  );
  return { port, got };
}

/** A proxy on a socket of its own, and what can be said to it. */
export async function openProxy(t: Teardown, options: Omit<EgressOptions, 'socket'>) {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'writ-egress-')));
  const socket = path.join(directory, 'p');
  const proxy = await startEgressProxy({ ...options, socket });
  let ended: Promise<readonly NetworkUse[]> | undefined;
  const close = (): Promise<readonly NetworkUse[]> => {
    ended ??= proxy.close();
    return ended;
  };
  t.teardown(async () => {
    await close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    close,
    open: (): Socket => connect({ path: socket }),
    /** Sends the text and gives everything that comes back until the end. */
    say: (text: string | Buffer) => exchange(connect({ path: socket }), text),
    /** Opens a tunnel, sends `first` in it, and gives what came before and after the empty line of the answer. */
    async tunnel(authority: string, first: Buffer | string) {
      const client = connect({ path: socket });
      client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
      const head = await until(client, (text) => text.includes('\r\n\r\n'));
      if (!head.startsWith('HTTP/1.1 200')) return { head, tail: '' };
      client.write(first);
      const tail = await until(client, (text) => text.includes('pong'));
      client.destroy();
      return { head, tail };
    },
  };
}

/** Everything read until the peer ends, or has been silent for two seconds. */
export function exchange(client: Socket, text: string | Buffer): Promise<string> {
  client.write(text);
  return until(client, () => false);
}

function until(client: Socket, enough: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const settle = (): void => {
      clearTimeout(timer);
      client.off('data', take);
      resolve(text);
    };
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (enough(text)) settle();
    };
    const timer = setTimeout(() => {
      client.destroy();
      settle();
    }, 60_000);
    client.on('error', () => {});
    client.on('data', take).once('close', settle).once('end', settle);
  });
}

/** A ClientHello as OpenSSL orders it, with whatever extensions a test wants. */
export function clientHello(
  serverName: string | undefined,
  further: readonly (readonly [type: number, content: Buffer])[] = [],
): Buffer {
  const extensions: (readonly [number, Buffer])[] = [...further];
  if (serverName !== undefined) {
    const name = Buffer.from(serverName, 'latin1');
    extensions.unshift([0, vector(2, Buffer.concat([Buffer.from([0]), vector(2, name)]))]);
  }
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 9)),
    vector(2, Buffer.from([0x13, 0x01])),
    vector(1, Buffer.from([0])),
    vector(
      2,
      Buffer.concat(
        extensions.map(([type, content]) => Buffer.concat([number(2, type), vector(2, content)])),
      ),
    ),
  ]);
  return records([Buffer.concat([Buffer.from([1]), number(3, body.length), body])]);
}

/** Handshake fragments in a record each. */
export function records(fragments: readonly Buffer[]): Buffer {
  return Buffer.concat(fragments.map((one) => Buffer.concat([Buffer.from([22, 3, 1]), vector(2, one)])));
}

function number(size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

export function vector(lengthSize: number, content: Buffer): Buffer {
  return Buffer.concat([number(lengthSize, content.length), content]);
}
