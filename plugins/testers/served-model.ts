import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage, type ServerResponse } from '../../engine/tool/egress/outside.ts';

/** What a question to a model held. */
export interface AskedModel {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A vendor on the loopback, which answers what it is told to. */
export interface ServedModel extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly AskedModel[];
}

/** Closed with everything that is still connected. */
export async function serveModel(
  answer: (response: ServerResponse, asked: AskedModel) => void | Promise<void>,
): Promise<ServedModel> {
  const asked: AskedModel[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    const body: unknown = text === '' ? null : JSON.parse(text);
    const one = { path: request.url ?? '', headers: request.headers, body };
    asked.push(one);
    await answer(response, one);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
