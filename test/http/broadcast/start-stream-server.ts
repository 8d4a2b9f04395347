import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Broadcast, type BroadcastSettings, createBroadcast, toFrame } from '../../../http/broadcast.ts';

export interface StreamServer {
  readonly broadcast: Broadcast;
  readonly server: Server;
  readonly port: number;
  /** Server ends of the connections so far. */
  readonly sockets: readonly Socket[];
  /** Arguments of the resync frames so far. */
  readonly resyncs: readonly (readonly [missed: number, lastSeq: number])[];
}

type Answer = (request: IncomingMessage, response: ServerResponse, broadcast: Broadcast) => void;

/** A server whose every answer is a stream; `answer` may do otherwise. */
export async function startStreamServer(
  test: { readonly teardown: (end: () => Promise<void>) => unknown },
  settings: Partial<BroadcastSettings> = {},
  answer: Answer = (_request, response, broadcast) => broadcast.add(response),
  options: ServerOptions = {},
): Promise<StreamServer> {
  const resyncs: [number, number][] = [];
  const resyncFrame = (missed: number, lastSeq: number): Buffer => {
    resyncs.push([missed, lastSeq]);
    return toFrame({ type: 'resync', id: lastSeq, data: JSON.stringify({ missed }) });
  };
  const broadcast = createBroadcast({ resyncFrame, ...settings });
  const server = createServer(options, (request, response) => answer(request, response, broadcast));
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1', 1024);
  await once(server, 'listening');
  test.teardown(async () => {
    await broadcast.end(0);
    server.closeAllConnections();
    server.close();
  });
  return { broadcast, server, port: (server.address() as AddressInfo).port, sockets, resyncs };
}

/** One raw client: what it sends, what it has received, when it was closed. */
export interface Client {
  readonly socket: Socket;
  text(): string;
  /** Resolves once the text holds `part`. */
  sees(part: string): Promise<string>;
  readonly closed: Promise<unknown>;
}

export function openClient(port: number, request = 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'): Client {
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  let text = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (part: string) => {
    text += part;
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  return {
    socket,
    text: () => text,
    closed,
    sees: async (part) => {
      while (!text.includes(part))
        await Promise.race([once(socket, 'data'), closed.then(() => fail(part, text))]);
      return text;
    },
  };
}

function fail(part: string, text: string): never {
  throw new Error(`closed before \`${part}\` came: ${text.slice(-200)}`);
}
