import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { readServedFile } from './served-file.ts';
import type { LedgerFileReader } from './tile-reader.ts';

export interface LedgerServer {
  /** Prefix of the log, with its final slash. */
  readonly url: string;
  /** Answers given so far, refusals included. */
  readonly requests: () => number;
  /** Stops listening and ends what is open. */
  readonly close: () => Promise<void>;
}

const host = '127.0.0.1';
const requestTimeoutMs = 10_000;
const maxHeaderBytes = 8 * 1024;
const maxConnections = 64;

/**
 * Answers GET and HEAD of checkpoint, tiles and entry bundles on loopback (C2SP tlog-tiles). Any other name than a
 * loopback one in `Host` is refused, so that no page in a browser can read the log under a name of its own. `port` 0
 * takes a free one; PORT_UNAVAILABLE.
 */
export async function serveLedger(read: LedgerFileReader, port: number): Promise<LedgerServer> {
  const { createServer } = await import('node:http');
  let requests = 0;
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    (request, response) => {
      requests += 1;
      answer(read, request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = maxConnections;
  const listening = once(server, 'listening');
  server.listen({ host, port, exclusive: true });
  try {
    await listening;
  } catch (cause) {
    throw new WritError('PORT_UNAVAILABLE', {
      message: `port ${port} on \`${host}\` cannot be taken: ${messageOf(cause)}`,
      detail: { host, port },
      cause,
    });
  }
  const url = `http://${host}:${(server.address() as AddressInfo).port}/`;
  return { url, requests: () => requests, close: () => close(server) };
}

async function answer(
  read: LedgerFileReader,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // What follows a request that is answered early must not be taken for the next one.
  if (request.method !== 'GET' && request.method !== 'HEAD') response.setHeader('connection', 'close');
  if (!isLoopbackHost(request.headers.host))
    return refuse(response, 403, 'this log answers on loopback only');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return refuse(response, 405, 'this log is only read');
  }
  let file: Awaited<ReturnType<typeof readServedFile>>;
  try {
    file = await readServedFile(read, request.url ?? '');
  } catch {
    return refuse(response, 500, 'the ledger cannot be read');
  }
  if (file === undefined) return refuse(response, 404, 'the log has no such resource');
  response.writeHead(200, {
    'content-type': file.contentType,
    'content-length': file.bytes.length,
    'cache-control': file.cacheControl,
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : file.bytes);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(`${text}\n`);
}

/** A name that every resolver leaves on this machine, or a literal; with any port, since a tunnel may change it. */
function isLoopbackHost(value: string | undefined): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/i.test(value ?? '');
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
