/* Serves a ledger over HTTP on loopback (C2SP tlog-tiles). */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { cutTile, type LedgerFileReader, tilePath, tileWidth, widthAt } from './tiles.ts';

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
 * Answers GET and HEAD of checkpoint, tiles and entry bundles on loopback (C2SP tlog-tiles). A `Host` that is not a
 * loopback name is refused, so that no web page can read the log under its own name. `port` 0 selects a free one;
 * PORT_UNAVAILABLE.
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
  // The body of a request that is answered early must not count as the next request.
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

/** One resource of a log (C2SP tlog-tiles), with its headers. */
interface ServedFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly cacheControl: string;
}

interface TilePlace {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

const maxLevel = 63;
const maxRounds = 5;

/**
 * What a log answers to a request target; `undefined` for whatever it has not: only the exact spellings of the format
 * are names, and only tiles of the tree that the checkpoint covers exist. Narrower versions of a tile are cut from the
 * one that is there.
 */
export async function readServedFile(
  read: LedgerFileReader,
  target: string,
): Promise<ServedFile | undefined> {
  if (target === '/checkpoint') {
    const bytes = await read('checkpoint');
    return (
      bytes && {
        bytes: Buffer.from(bytes),
        contentType: 'text/plain; charset=utf-8',
        cacheControl: 'no-cache',
      }
    );
  }
  const tile = parseTilePath(target);
  if (tile === undefined) return undefined;
  for (let round = 1; ; round += 1) {
    const size = await currentSize(read);
    const bytes = await readTile(read, tile, size);
    // An append in between replaces partial tiles.
    if (bytes === undefined && round < maxRounds && (await currentSize(read)) !== size) continue;
    return (
      bytes && {
        bytes,
        contentType: 'application/octet-stream',
        cacheControl: 'public, max-age=31536000, immutable',
      }
    );
  }
}

async function readTile(
  read: LedgerFileReader,
  { level, index, width }: TilePlace,
  size: number,
): Promise<Buffer | undefined> {
  const stored = widthAt(level === 'entries' ? 0 : level, index, size);
  if (width > stored) return undefined;
  const found = await read(tilePath(level, index, stored));
  return found && cutTile(found, level === 'entries', width);
}

async function currentSize(read: LedgerFileReader): Promise<number> {
  const bytes = await read('checkpoint');
  return bytes === undefined ? 0 : parseCheckpoint(Buffer.from(bytes).toString('utf8')).size;
}

/** Parses a target. Accepts only the canonical spelling, without percent-decoding. */
function parseTilePath(target: string): TilePlace | undefined {
  const match =
    /^\/tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,4}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/.exec(target);
  if (match === null) return undefined;
  const [, kind = '', groups = '', partial] = match;
  const level = kind === 'entries' ? kind : Number(kind);
  const index = Number(groups.replace(/[x/]/g, ''));
  const width = partial === undefined ? tileWidth : Number(partial);
  if ((level !== 'entries' && level > maxLevel) || (partial !== undefined && width >= tileWidth))
    return undefined;
  return target === `/${tilePath(level, index, width)}` ? { level, index, width } : undefined;
}
