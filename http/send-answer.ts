/* Sends answers and errors of a route. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorCatalogue } from '../core/base/error-codes.ts';
import { isWritError, WritError } from '../core/base/errors.ts';

const lingerMs = 500;
const lingerBytes = 4 * 1024 * 1024;

/** Headers of every response: no caching, no content sniffing, no framing. */
export const answerHeaders: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answers 200 with `value` as JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  response.writeHead(200, { ...answerHeaders, 'content-length': body.length }).end(body);
}

/**
 * Answers with the error envelope; where the answer has begun already, ends the connection. A body that is still coming
 * is not waited for: the answer goes out first, then a bounded rest is thrown away, because closing over unread octets
 * would reset the connection before the client has read why.
 */
export async function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
): Promise<void> {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, body } = toErrorAnswer(thrown);
  const rest = bodyStillComing(request);
  const headers = { ...answerHeaders, ...moreHeaders(thrown), 'content-length': body.length };
  if (rest) response.setHeader('connection', 'close');
  response.writeHead(status, headers);
  if (!rest) {
    response.end(request.method === 'HEAD' ? undefined : body);
    return;
  }
  response.write(body);
  await discard(request);
  response.end();
}

/** An error answer as bytes, for a connection on which node made no response object. */
export function rawErrorAnswer(thrown: unknown): Buffer {
  const { status, body } = toErrorAnswer(thrown);
  const lines = [
    `HTTP/1.1 ${status} `,
    ...Object.entries({ ...answerHeaders, ...moreHeaders(thrown) }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `content-length: ${body.length}`,
    'connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

function moreHeaders(thrown: unknown): Readonly<Record<string, string>> {
  if (isWritError(thrown, 'METHOD_NOT_ALLOWED')) return { allow: String(thrown.detail.allow ?? '') };
  if (isWritError(thrown, 'RATE_LIMITED'))
    return { 'retry-after': String(thrown.detail.retry_after_seconds) };
  return {};
}

function bodyStillComing(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = request.headers;
  return !request.complete && (transfer !== undefined || Number(length) > 0);
}

function discard(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let size = 0;
    const timer = setTimeout(done, lingerMs);
    function done(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    function count(part: Buffer): void {
      size += part.length;
      if (size > lingerBytes) done();
    }
    request.on('data', count).on('end', done).on('close', done).on('error', done);
    request.resume();
  });
}

/** What is answered for a fault: status and the one JSON envelope, `{error: {code, message, details?}}`. */
interface ErrorAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** A fault as the outside may see it: a catalogued one as it is, any other as INTERNAL_ERROR without its words. */
export function toErrorAnswer(thrown: unknown): ErrorAnswer {
  const fault = isWritError(thrown) && thrown.code !== 'INTERNAL' ? thrown : new WritError('INTERNAL_ERROR');
  const { code, message, detail } = fault;
  const details = Object.keys(detail).length === 0 ? {} : { details: toWireNames(detail) };
  return {
    status: errorCatalogue[code].http,
    body: Buffer.from(`${JSON.stringify({ error: { code, message, ...details } })}\n`),
  };
}

/** Field names in HTTP are camelCase; those of the command line are not. */
function toWireNames(detail: WritError['detail']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, first: string) => first.toUpperCase()),
      value,
    ]),
  );
}

/** One request that was let in, on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Values of the `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /**
   * The JSON object in the body; throws what `readJsonBody` throws. Once. `admit` throws where the sender may not have
   * an answer: called when type and size of the body are known, before it is parsed.
   */
  readBody(admit?: () => void): Promise<Readonly<Record<string, unknown>>>;
}

/** One resource and method as data. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** `/api/health`; `:name` matches one segment. */
  readonly path: string;
  /** A page that people go to: of those elsewhere it is the notice (`LoopbackServerOptions.notice`). */
  readonly isPage?: true;
  /** Throws where this request may not have an answer; called before anything of the body is read. */
  readonly admit?: (request: IncomingMessage) => void;
  /** Returns the JSON value of the response, or `undefined` if the response was turned into an event stream. */
  readonly answer: (exchange: Exchange) => unknown;
}
