import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a question held. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A vendor on the loopback: it answers what it is told to. */
export interface ModelServer extends AsyncDisposable {
  readonly base: string;
  readonly asked: Asked[];
}

/** A server whose answers `answer` writes; closed with everything that is still connected. */
export async function serveModel(
  answer: (asked: Asked, response: ServerResponse) => void | Promise<void>,
  wantedPort = 0,
): Promise<ModelServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    asked.push(one);
    await answer(one, response);
  });
  await new Promise<void>((listening) => server.listen(wantedPort, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Sends a body in pieces of the lengths that `next` draws, so that characters and frames are cut anywhere. */
export async function sendInPieces(
  response: ServerResponse,
  body: Buffer,
  next: (below: number) => number,
): Promise<void> {
  for (let at = 0; at < body.length; ) {
    const size = 1 + next(at % 3 === 0 ? 7 : 200);
    response.write(body.subarray(at, at + size));
    at += size;
    await new Promise((done) => setImmediate(done));
  }
}
