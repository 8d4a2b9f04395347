import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage, type ServerResponse } from '../../engine/tool/egress/outside.ts';

/** What a question to a model held. */
export interface AskedModel {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As JSON; `undefined` where it is none. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
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
    const bytes = Buffer.concat(parts);
    const one = { path: request.url ?? '', headers: request.headers, body: asJson(bytes), bytes };
    asked.push(one);
    try {
      await answer(response, one);
    } catch {
      response.destroy();
    }
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

function asJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
