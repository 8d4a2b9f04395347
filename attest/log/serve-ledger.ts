/* Serves a ledger over HTTP (C2SP tlog-tiles), and hands entries that are sent to it to its writer. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Clock } from '../../core/base/clock.ts';
import { errorCatalogue } from '../../core/base/error-codes.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { formatTlogProof, parseCheckpoint } from './checkpoint.ts';
import { openTokens } from './ledger-tokens.ts';
import type { SharedLedger } from './shared-ledger.ts';
import { cutTile, type LedgerFileReader, tilePath, tileWidth, widthAt } from './tiles.ts';

export interface LedgerServer {
  /** Prefix of the log, with its final slash. */
  readonly url: string;
  /** Answers given so far, refusals included. */
  readonly requests: () => number;
  /** Stops listening and ends what is open. */
  readonly close: () => Promise<void>;
}

const requestTimeoutMs = 10_000;
const maxHeaderBytes = 8 * 1024;

export interface ServeLedgerOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** A literal address; default 127.0.0.1. An address beyond the loopback needs `tls`. */
  readonly host?: string;
  /** PEM. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Answers `POST /add`. Absent: the log is only read. */
  readonly add?: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Open connections, further ones are closed; default 64. */
  readonly maxConnections?: number;
}

/**
 * Answers GET and HEAD of checkpoint, tiles and entry bundles (C2SP tlog-tiles). On the loopback a `Host` that is not a
 * loopback name is refused, so that no web page can read the log under its own name. USAGE for an address elsewhere
 * without TLS, PORT_UNAVAILABLE.
 */
export async function serveLedger(
  read: LedgerFileReader,
  { port, host = '127.0.0.1', tls, add, maxConnections = 64 }: ServeLedgerOptions,
): Promise<LedgerServer> {
  const isLocal = isLoopbackHost(isIPv6(host) ? `[${host}]` : host);
  if (!isLocal && tls === undefined)
    throw new WritError('USAGE', {
      message: `plain HTTP on \`${host}\` would show tokens to the network: give \`--tls-cert\` and \`--tls-key\`, or listen on 127.0.0.1 behind a proxy with TLS`,
    });
  let requests = 0;
  const server = await createServer(
    { maxHeaderSize: maxHeaderBytes, requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    tls,
    (request, response) => {
      requests += 1;
      answer({ read, isLocal, add }, request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = maxConnections;
  const listening = once(server, 'listening');
  server.listen({ host, port, exclusive: true });
  try {
    await listening;
  } catch (cause) {
    throw new WritError('PORT_UNAVAILABLE', {
      message: `port ${port} on \`${host}\` cannot be opened: ${messageOf(cause)}`,
      detail: { host, port },
      cause,
    });
  }
  const scheme = tls === undefined ? 'http' : 'https';
  const url = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/`;
  return { url, requests: () => requests, close: () => close(server) };
}

async function createServer(
  options: ServerOptions,
  tls: ServeLedgerOptions['tls'],
  listener: RequestListener,
): Promise<Server> {
  if (tls === undefined) return (await import('node:http')).createServer(options, listener);
  const { createServer } = await import('node:https');
  return createServer({ ...options, ...tls, minVersion: 'TLSv1.2' }, listener);
}

async function answer(
  {
    read,
    isLocal,
    add,
  }: { readonly read: LedgerFileReader; readonly isLocal: boolean; readonly add: ServeLedgerOptions['add'] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isHere = !isLocal || isLoopbackHost(request.headers.host);
  const isAdd =
    isHere && add !== undefined && request.method === 'POST' && /^\/add(?:\?|$)/.test(request.url ?? '');
  // The body of a request that is answered early must not count as the next request.
  if (request.method !== 'GET' && request.method !== 'HEAD' && !isAdd)
    response.setHeader('connection', 'close');
  if (!isHere) return refuse(response, 403, 'this log answers on loopback only');
  if (isAdd) return add(request, response);
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

/** What a client is shown of a fault. Everything else is INTERNAL_ERROR, and goes to the operator. */
const shown = new Set([
  ...['LEDGER_TOKEN', 'LEDGER_FULL', 'LEDGER_UNAVAILABLE', 'LEDGER_UNWITNESSED', 'LEDGER_INCOMPLETE'],
  ...['RATE_LIMITED', 'PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'INVALID_BODY', 'ATTESTATION_MALFORMED'],
  ...['LOG_FAILED', 'LOG_FORKED'],
]);
const maxBehind = 2 ** 53;

/**
 * Appends the body of a request as an entry of the repository whose token it bears, and answers with a C2SP tlog-proof,
 * once a published checkpoint covers the entry. `?behind=N` is the size before the entry was first sent.
 */
export function acceptEntries(
  directory: string,
  ledger: SharedLedger,
  clock: Clock,
  report: (fault: unknown) => void,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const tokens = openTokens(directory, clock);
  return async (request, response) => {
    try {
      const repository = tokens.admit(request.headers.authorization);
      const behind = /^\/add(?:\?behind=(0|[1-9][0-9]{0,15}))?$/.exec(request.url ?? '');
      if (behind === null) throw new WritError('INVALID_BODY', { message: 'expected `/add?behind=SIZE`' });
      tokens.count(repository);
      const body = await readBounded(request, repository.maxBytes);
      const from = behind[1] === undefined ? undefined : Math.min(Number(behind[1]), maxBehind);
      const proof = await ledger.add(body, repository.name, from);
      send(response, 200, 'text/plain; charset=utf-8', formatTlogProof(proof));
    } catch (thrown) {
      const fault = thrown instanceof WritError && shown.has(thrown.code) ? thrown : undefined;
      const { code, message, detail } = fault ?? new WritError('INTERNAL_ERROR');
      const status = errorCatalogue[code].http;
      if (status >= 500) report(thrown);
      // What is left of the body must not count as the next request.
      if (!request.complete) response.setHeader('connection', 'close');
      if (code === 'LEDGER_TOKEN') response.setHeader('www-authenticate', 'Bearer');
      if (code === 'RATE_LIMITED') response.setHeader('retry-after', String(detail.retry_after));
      send(response, status, 'application/json', `${JSON.stringify({ error: { code, message } })}\n`);
    }
  };
}

async function readBounded(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): WritError =>
    new WritError('PAYLOAD_TOO_LARGE', { message: `an entry may have ${maxBytes} octets` });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      size += (part as Buffer).length;
      if (size > maxBytes) throw tooLarge();
      parts.push(part as Buffer);
    }
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('INVALID_BODY', { message: 'the entry did not come whole', cause: fault });
  }
  return Buffer.concat(parts);
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}
