/* An HTTP server that answers this machine alone. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { messageOf, WritError } from '../core/base/errors.ts';
import { guardRequest, isLoopbackPeer, reachableHere, toUrlHost, valuesOf } from './guard-request.ts';
import { type BodyLimits, readJsonBody } from './read-json-body.ts';
import {
  answerHeaders,
  type Route,
  rawErrorAnswer,
  sendError,
  sendJson,
  toErrorAnswer,
} from './send-answer.ts';

export interface LoopbackServerOptions {
  /** A literal address: of the loopback, unless there is a notice for peers elsewhere. */
  readonly host: string;
  /** What a browser elsewhere is shown; absent: refused like everything from there. Only this machine has routes. */
  readonly notice?: NoticeFor;
  /** 0: any that is free. */
  readonly port: number;
  /** Whether any free port replaces one that is in use. */
  readonly elseFree?: boolean;
  /** The option that sets the port, for the message that the port is in use; default `--port`. */
  readonly portOption?: string;
  readonly routes: readonly Route[];
  readonly body: BodyLimits;
  /** For a request's headers to come whole. */
  readonly headersWithinMs: number;
  /** A fault that is ours, not the client's; the client sees INTERNAL_ERROR only. */
  readonly report: (fault: unknown) => void;
}

export interface LoopbackServer {
  /** `http://127.0.0.1:1234`, without a final slash. */
  readonly baseUrl: string;
  /** Stops listening, waits at most `withinMs` for answers under way, then ends what is open. */
  close(withinMs: number): Promise<void>;
}

const limits: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  keepAliveTimeout: 5_000,
  // A missing one is refused by our own guard, in our own envelope.
  requireHostHeader: false,
};
const maxConnections = 8_192;
const maxCheckIntervalMs = 1_000;
/** How long a refused client has to read why and to close its half. */
const lingerMs = 500;

/**
 * Plain segments only: no escape, no backslash, no dot segment, no empty one. So every resource has exactly one path.
 */
const plainTarget =
  /^\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)?(?:\?[!"$-[\]-~]*)?$/;

/**
 * Serves `routes` on the loopback. Every request passes the guard first; every refusal, the framework's and node's own
 * included, is the JSON error envelope. PORT_UNAVAILABLE. The one file that knows the HTTP framework.
 */
export async function startLoopbackServer(options: LoopbackServerOptions): Promise<LoopbackServer> {
  const { host, port, headersWithinMs } = options;
  const listen = getRequestListener(routerOf(options).fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
  });
  const { routes, notice } = options;
  const elsewhere = notice === undefined ? undefined : answerElsewhere(routes, notice);
  /** The response that a connection is sending. No other code may write into it. */
  const answering = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({
    ...limits,
    headersTimeout: headersWithinMs,
    requestTimeout: headersWithinMs + options.body.withinMs + 1_000,
    connectionsCheckingInterval: Math.min(maxCheckIntervalMs, headersWithinMs),
  });
  const take = (request: IncomingMessage, response: ServerResponse, last?: WritError): void => {
    // No request follows a response that closes the connection; the rest of its body is ignored.
    if (answering.get(request.socket)?.getHeader('connection') === 'close') return;
    answering.set(request.socket, response);
    response.on('error', () => {});
    if (elsewhere !== undefined && !isLoopbackPeer(request.socket.remoteAddress)) {
      elsewhere(request, response);
      return;
    }
    const refusal = guardRequest(request) ?? formRefusal(request) ?? last;
    if (refusal !== undefined) {
      void sendError(request, response, refusal);
      return;
    }
    // The framework would validate the host again and refuse with its own message.
    request.headers.host = 'localhost';
    void listen(request, response);
  };
  server.maxConnections = maxConnections;
  // Beyond a number of them node drops headers without a word; their size is limited.
  server.maxHeadersCount = 0;
  // A client that half-closes after its request still gets a response.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('request', (request, response) => take(request, response));
  server.on('checkContinue', (request, response) => take(request, response));
  server.on('checkExpectation', (request, response) =>
    take(request, response, new WritError('EXPECTATION_FAILED')),
  );
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const refusal =
      guardRequest(request) ?? new WritError('METHOD_NOT_ALLOWED', { detail: { allow: 'GET, HEAD, POST' } });
    refuseRaw(socket, refusal);
  });
  const broken = new WeakSet<Duplex>();
  server.on('clientError', (fault: NodeJS.ErrnoException, socket: Duplex) => {
    if (broken.has(socket)) return;
    broken.add(socket);
    const begun = answering.get(socket);
    const refuse = (): void => refuseRaw(socket, toParserFault(fault));
    if (begun === undefined || begun.writableFinished || begun.destroyed) refuse();
    // An earlier valid request gets its response first.
    else if (begun.req.complete) begun.once('close', refuse);
    else if (begun.socket === null) begun.once('socket', refuse);
    else if (begun.headersSent) socket.destroy();
    else refuse();
  });
  const listening = once(server, 'listening');
  const place = { host, exclusive: true, ipv6Only: true };
  server.listen({ ...place, port });
  try {
    await listening.catch(async (fault: NodeJS.ErrnoException) => {
      if (options.elseFree !== true || fault.code !== 'EADDRINUSE') throw fault;
      const again = once(server, 'listening');
      server.listen({ ...place, port: 0 });
      await again;
    });
  } catch (cause) {
    throw new WritError('PORT_UNAVAILABLE', {
      message: `port ${port} on \`${host}\` cannot be opened: ${messageOf(cause)}`,
      detail: { host, port },
      hints: [`choose another port with \`${options.portOption ?? '--port'} PORT\`; 0 means any free one`],
      cause,
    });
  }
  const baseUrl = `http://${toUrlHost(reachableHere(host))}:${(server.address() as AddressInfo).port}`;
  return { baseUrl, close: (withinMs) => close(server, withinMs) };
}

function routerOf({ routes, body, report }: LoopbackServerOptions): Hono<{ Bindings: HttpBindings }> {
  const router = new Hono<{ Bindings: HttpBindings }>();
  for (const { method, path, admit, answer } of routes) {
    router.on(method, path, async ({ env, req }) => {
      const { incoming: request, outgoing: response } = env;
      const proceed = (): void => {
        if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue();
      };
      try {
        admit?.(request);
        const value = await answer({
          request,
          response,
          params: req.param(),
          query: new URLSearchParams(/\?.*/.exec(request.url ?? '')?.[0]),
          readBody: (admission) => readJsonBody(request, body, proceed, admission),
        });
        if (value !== undefined) sendJson(response, value);
      } catch (thrown) {
        if (toErrorAnswer(thrown).status === 500) report(thrown);
        await sendError(request, response, thrown);
      }
      return RESPONSE_ALREADY_SENT;
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes
      .filter((route) => route.path === path)
      .map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
    router.all(path, ({ env }) =>
      refuse(env, new WritError('METHOD_NOT_ALLOWED', { detail: { allow: allow.join(', ') } })),
    );
  }
  router.notFound(({ env }) => refuse(env, new WritError('NOT_FOUND')));
  router.onError((thrown, { env }) => {
    report(thrown);
    return refuse(env, thrown);
  });
  return router;
}

async function refuse({ incoming, outgoing }: HttpBindings, thrown: unknown): Promise<Response> {
  await sendError(incoming, outgoing, thrown);
  return RESPONSE_ALREADY_SENT;
}

/** Node's parser also accepts HTTP versions that it does not support. */
function formRefusal({ url = '', httpVersion }: IncomingMessage): WritError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new WritError('INVALID_REQUEST', { detail: { reason: 'version' } });
  return plainTarget.test(url) ? undefined : new WritError('NOT_FOUND');
}

function refuseRaw(socket: Duplex, fault: WritError): void {
  if (socket.destroyed) return;
  socket.on('error', () => {});
  if (socket.writable) socket.end(rawErrorAnswer(fault));
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** What node's parser refuses, and what did not come in time. */
function toParserFault({ code = '' }: NodeJS.ErrnoException): WritError {
  if (code === 'HPE_HEADER_OVERFLOW') return new WritError('HEADERS_TOO_LARGE');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new WritError('PAYLOAD_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new WritError('REQUEST_TIMEOUT');
  return new WritError('INVALID_REQUEST', { detail: { reason: code } });
}

async function close(server: Server, withinMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(timer);
}

/** The page that a peer at this address is shown. */
type NoticeFor = (remoteAddress: string) => string;

/**
 * Responds to peers on other machines, whatever their request: the notice for a browser that opens a page,
 * LOOPBACK_REQUIRED on known routes, NOT_FOUND for everything else. No route handler runs, and no body is read.
 */
export function answerElsewhere(
  routes: readonly Pick<Route, 'path' | 'isPage'>[],
  notice: NoticeFor,
): (request: IncomingMessage, response: ServerResponse) => void {
  const known = routes.filter(({ isPage }) => isPage !== true).map(({ path }) => path.split('/'));
  const tops = new Set(known.map(([, top]) => top));
  return (request, response) => {
    const { remoteAddress } = request.socket;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const parts = path.split('/');
    if (known.some((one) => isSame(one, parts))) {
      const detail = { found: remoteAddress ?? null };
      void sendError(request, response, new WritError('LOOPBACK_REQUIRED', { detail }));
    } else if (isNavigation(request) && !tops.has(parts[1]) && !isAsset(parts))
      sendPage(response, notice(remoteAddress ?? 'unknown'));
    else void sendError(request, response, new WritError('NOT_FOUND'));
  };
}

function isSame(route: readonly string[], parts: readonly string[]): boolean {
  return (
    route.length === parts.length &&
    route.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
  );
}

/** Whether a browser will show the response: newer ones send `Sec-Fetch-Mode`, older ones accept HTML. */
function isNavigation(request: IncomingMessage): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const [mode] = valuesOf(request, 'sec-fetch-mode');
  const [dest = 'document'] = valuesOf(request, 'sec-fetch-dest');
  if (mode !== undefined) return mode === 'navigate' && dest === 'document';
  return valuesOf(request, 'accept').some((value) => /\btext\/html\b/i.test(value));
}

/** A name with an ending is a file of a page. */
function isAsset(parts: readonly string[]): boolean {
  return parts.at(-1)?.includes('.') === true;
}

/** A page may not run scripts, load resources, be framed or submit forms. */
const pageHeaders: Readonly<Record<string, string>> = {
  ...answerHeaders,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Sends status 200 with a self-contained HTML page. Its scripts would not run. */
function sendPage(response: ServerResponse, html: string): void {
  const body = Buffer.from(html);
  response.writeHead(200, { ...pageHeaders, 'content-length': body.length }).end(body);
}
