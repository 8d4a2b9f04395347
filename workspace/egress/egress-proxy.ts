/* The HTTP proxy through which a sandbox reaches the network. */
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import { authorityOf, type EgressPolicy, readTarget, type Target, UseList } from './openings.ts';
import {
  createServer,
  type IncomingMessage,
  type Outside,
  request as open,
  realOutside,
  type ServerResponse,
} from './outside.ts';
import { defaultLimits, type Egress, type EgressLimits, Passage } from './passage.ts';

export interface EgressOptions {
  /** Path of the Unix socket to listen on. */
  readonly socket: string;
  readonly policy: EgressPolicy;
  readonly outside?: Outside;
  readonly leaving?: Egress['leaving'];
  readonly told?: Egress['told'];
  readonly limits?: Partial<EgressLimits>;
}

export interface EgressProxy {
  /** The record so far, with the connections that are open. */
  seen(): readonly NetworkUse[];
  /** Cuts what is open and gives the record of all connections. */
  close(): Promise<readonly NetworkUse[]>;
}

/**
 * An HTTP proxy on a Unix socket, the one way out of a sandbox: `CONNECT` for TLS, absolute-form requests for plain
 * HTTP. Whatever the policy does not open is refused, and every connection is recorded.
 */
export async function startEgressProxy(options: EgressOptions): Promise<EgressProxy> {
  const limits = { ...defaultLimits, ...options.limits };
  const over = new AbortController();
  const egress: Egress = {
    policy: options.policy,
    outside: options.outside ?? realOutside,
    leaving: options.leaving,
    told: options.told,
    limits,
    uses: new UseList(),
    left: { bytes: limits.bytes, connections: limits.connections },
    signal: over.signal,
    open: new Set(),
  };
  const clients = new Set<Socket>();
  /** Clients that speak plain HTTP in a tunnel, and where it leads. */
  const tunnelled = new WeakMap<Duplex, Target>();
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.connectionMs,
    connectionsCheckingInterval: Math.min(1000, limits.headMs),
    keepAliveTimeout: 5000,
    insecureHTTPParser: false,
  });
  server.maxConnections = limits.openConnections;
  server.setTimeout(limits.idleMs);
  const unserved = (why: 'malformed' | 'limit' | 'time', client?: Duplex): void =>
    new Passage(egress, 'http', '', () => {}).refuse(why, client && tunnelled.get(client));
  server.on('connection', (socket: Socket) => {
    clients.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => clients.delete(socket));
  });
  server.on('drop', () => unserved('limit'));
  server.on('request', (request, response) => {
    forwardRequest(egress, request, response, tunnelled.get(request.socket)).catch(() => response.destroy());
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    const authority = Buffer.from(request.url ?? '', 'latin1').toString('utf8');
    if (tunnelled.has(client)) {
      unserved('malformed', client);
      client.destroy();
    } else serveTunnel(egress, authority, client, head, servePlain).catch(() => client.destroy());
  });
  function servePlain(client: Socket, target: Target): void {
    tunnelled.set(client, target);
    server.emit('connection', client);
    client.resume();
  }
  server.on('clientError', (fault: NodeJS.ErrnoException, client: Duplex) => {
    const isLate = fault.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isLate || fault.code?.startsWith('HPE_')) {
      unserved(isLate ? 'time' : 'malformed', client);
      answer(client, isLate ? 408 : fault.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, 'malformed');
    } else client.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.socket, resolve);
  });
  return {
    seen: () => [...egress.uses.list(), ...[...egress.open].flatMap((one) => one.soFar() ?? [])],
    async close() {
      over.abort();
      for (const passage of egress.open) passage.cut();
      for (const client of clients) client.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      return egress.uses.list();
    },
  };
}

const httpPort = 80;

/**
 * Serves one request in absolute form (`GET http://host/…`), or of any form to the target of a tunnel: one connection
 * to the host, one answer. A redirect is the client's to follow.
 */
async function forwardRequest(
  egress: Egress,
  request: IncomingMessage,
  response: ServerResponse,
  tunnelled?: Target,
): Promise<void> {
  const url = request.url ?? '';
  const inTunnel = tunnelled && url.startsWith('/') ? authorityOf(tunnelled, httpPort) : undefined;
  const [, authority, path] =
    /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(inTunnel === undefined ? url : `http://${inTunnel}${url}`) ?? [];
  const passage = new Passage(egress, 'http', authority ?? url, () => {
    outgoing?.destroy();
    request.destroy();
    response.destroy();
  });
  let outgoing: ReturnType<typeof open> | undefined;
  const target = authority === undefined ? undefined : readTarget(asUnicode(authority), httpPort);
  const isElsewhere = tunnelled && (tunnelled.host !== target?.host || tunnelled.port !== target.port);
  const problem =
    target === undefined ? 'malformed' : isElsewhere ? 'host-header' : headProblem(request, target);
  if (target === undefined || problem !== undefined) {
    passage.refuse(problem ?? 'malformed', target);
    refuse(response, 400, problem ?? 'malformed');
    return;
  }
  const reached = await passage.reach(target);
  if (!reached.ok) {
    refuse(response, reached.outcome === 'refused' ? 403 : 502, reached.why);
    return;
  }
  passage.through();
  const { socket } = reached;
  const hasBody = request.headers['transfer-encoding'] !== undefined;
  outgoing = open({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: path?.startsWith('/') ? path : `/${path ?? ''}`,
    setHost: false,
    maxHeaderSize: egress.limits.headerBytes * 2,
    headers: [
      ...[['Host', authorityOf(target, httpPort)] as const, ...endToEndHeaders(request.rawHeaders, ['host'])],
      ['Connection', 'close'] as const,
      ...(hasBody ? [['Transfer-Encoding', 'chunked'] as const] : []),
    ].flat(),
  });
  response.once('close', () => {
    passage.done();
    socket.destroy();
  });
  outgoing.on('error', () => {
    passage.fail('unreachable');
    if (response.headersSent) response.destroy();
    else refuse(response, 502, 'unreachable');
  });
  outgoing.once('response', (answer) => {
    try {
      response.writeHead(
        answer.statusCode ?? 502,
        answer.statusMessage,
        endToEndHeaders(answer.rawHeaders).flat(),
      );
    } catch {
      // A head that Node reads but does not write.
      refuse(response, 502, 'malformed');
      return;
    }
    pipeline(answer, passage.meter('received'), response, () => {});
  });
  pipeline(request, passage.meter('sent'), outgoing, () => {});
}

/**
 * Checks that the request has at most one `Host`, that it names the target, and that the proxy can forward the
 * framing of the body.
 */
function headProblem(request: IncomingMessage, target: Target): NetworkObstacle | undefined {
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return 'malformed';
  const hosts = request.headersDistinct.host ?? [];
  // HTTP/1.0 has none.
  if (hosts.length === 0) return undefined;
  const named = readTarget(asUnicode(hosts[0] ?? ''), httpPort);
  const isSame = hosts.length === 1 && named?.host === target.host && named.port === target.port;
  return isSame ? undefined : 'host-header';
}

function refuse(response: ServerResponse, status: 400 | 403 | 502, why: string): void {
  if (response.headersSent || response.destroyed) return;
  const text = `writ: ${why}\n`;
  response.writeHead(status, why, {
    'Content-Type': 'text/plain',
    'Content-Length': text.length,
    Connection: 'close',
  });
  response.end(text);
}

/** Node reads the head of a request as latin1. */
function asUnicode(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

/**
 * Between two hops only (RFC 9110, 7.6.1), or for the proxy itself; with what `Connection` names they go no further.
 */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Raw headers (name, value, name, …) as pairs, without those that end here and without `without` (lower case). */
export function endToEndHeaders(
  raw: readonly string[],
  without: readonly string[] = [],
): readonly (readonly [name: string, value: string])[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()));
  const dropped = new Set([...named, ...without]);
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase();
    return !hopByHop.has(lower) && !dropped.has(lower);
  });
}

/**
 * Serves one `CONNECT`. The tunnel carries only TLS for the requested host: the ClientHello is parsed before the
 * first octet is forwarded. Some clients (Node's `fetch`) use `CONNECT` for plain HTTP. That traffic goes to
 * `servePlain`, which authorizes every request in it.
 */
async function serveTunnel(
  egress: Egress,
  authority: string,
  client: Socket,
  head: Buffer,
  servePlain: (client: Socket, target: Target) => void,
): Promise<void> {
  let upstream: Socket | undefined;
  const passage = new Passage(egress, 'connect', authority, () => {
    client.destroy();
    upstream?.destroy();
  });
  // Node stops managing a socket that it passes to a `connect` listener, so the idle timeout is set here.
  client.setTimeout(egress.limits.idleMs, () => client.destroy());
  const target = readTarget(authority);
  if (target === undefined) {
    passage.refuse('malformed');
    answer(client, 400, 'malformed');
    return;
  }
  const reached = await passage.reach(target);
  if (!reached.ok) {
    answer(client, reached.outcome === 'refused' ? 403 : 502, reached.why);
    return;
  }
  upstream = reached.socket;
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const { bytes, reading } = await firstFlight(client, head, egress.limits.headMs);
  if (reading.kind === 'not-tls' && isUpperCase(bytes[0])) {
    passage.forget();
    upstream.destroy();
    client.unshift(bytes);
    servePlain(client, target);
    return;
  }
  const problem = helloProblem(reading, target);
  if (problem !== undefined) {
    passage.cut(problem);
    return;
  }
  if (client.destroyed || upstream.destroyed) {
    passage.cut();
    return;
  }
  passage.through();
  passage.count('sent', bytes.length);
  upstream.write(bytes);
  let open = 2;
  const over = (): void => {
    open -= 1;
    if (open === 0) passage.done();
  };
  pipeline(client, passage.meter('sent'), upstream, over);
  pipeline(upstream, passage.meter('received'), client, over);
}

function helloProblem(reading: HelloReading, { host, kind }: Target) {
  if (reading.kind !== 'hello') return 'not-tls';
  if (reading.isEncrypted) return 'encrypted-hello';
  if (reading.serverName === undefined) return kind === 'name' ? 'no-server-name' : undefined;
  return reading.serverName === host ? undefined : 'server-name';
}

/** What a method of HTTP begins with, and TLS never. */
function isUpperCase(octet: number | undefined): boolean {
  return octet !== undefined && octet >= 0x41 && octet <= 0x5a;
}

/** What the client sends first, until it can be read or the time is up (`more`). */
function firstFlight(
  client: Duplex,
  head: Buffer,
  deadlineMs: number,
): Promise<{ bytes: Buffer; reading: HelloReading }> {
  return new Promise((resolve) => {
    let bytes = head;
    const settle = (reading: HelloReading): void => {
      clearTimeout(timer);
      client.off('data', take).off('close', stop).off('end', stop).pause();
      resolve({ bytes, reading });
    };
    const stop = (): void => settle({ kind: 'more' });
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const reading = readClientHello(bytes);
      if (reading.kind !== 'more') settle(reading);
    };
    const timer = setTimeout(stop, deadlineMs);
    client.on('data', take).once('close', stop).once('end', stop);
    take(Buffer.alloc(0));
  });
}

/** Sends the reason to the client and closes the connection. */
function answer(client: Duplex, status: 400 | 403 | 408 | 431 | 502 | 503, why: string): void {
  if (!client.writable) return;
  const text = `writ: ${why}\n`;
  client.end(
    `HTTP/1.1 ${status} ${why}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => client.destroy(),
  );
}

/** The host that a TLS client requests in its first flight. `more`: the ClientHello is not complete yet. */
type HelloReading =
  | { readonly kind: 'more' }
  | { readonly kind: 'not-tls' }
  | { readonly kind: 'hello'; readonly serverName: string | undefined; readonly isEncrypted: boolean };

/** Most octets of a ClientHello with its record headers. */
export const maxHelloBytes = 16_384;

const [handshakeRecord, clientHello, serverNameExtension, hostName] = [22, 1, 0, 0];
/**
 * Encrypted ClientHello (RFC 9849) and its predecessor draft, encrypted SNI. With either one, the outer name is not
 * reliable.
 */
const encryptedExtensions = [0xfe0d, 0xffce];

/**
 * Reads a ClientHello (RFC 8446, 4.1.2), which may span records. Anything not exactly one, or longer than
 * `maxHelloBytes`, is `not-tls`.
 */
export function readClientHello(bytes: Buffer): HelloReading {
  const message: Buffer[] = [];
  let length = 0;
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return { kind: 'not-tls' };
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return { kind: 'not-tls' };
    if (bytes.length < at + 5) break;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > maxHelloBytes) return { kind: 'not-tls' };
    const fragment = bytes.subarray(at + 5, at + 5 + size);
    message.push(fragment);
    length += fragment.length;
    const whole = Buffer.concat(message);
    if (whole.length > 0 && whole[0] !== clientHello) return { kind: 'not-tls' };
    if (whole.length >= 4) {
      const wanted = 4 + whole.readUIntBE(1, 3);
      if (wanted > maxHelloBytes) return { kind: 'not-tls' };
      if (length >= wanted) return readBody(whole.subarray(4, wanted));
    }
    if (fragment.length < size) break;
    at += 5 + size;
  }
  return bytes.length >= maxHelloBytes ? { kind: 'not-tls' } : { kind: 'more' };
}

function readBody(body: Buffer): HelloReading {
  const outer = new Vectors(body);
  outer.skip(34);
  outer.vector(1);
  outer.vector(2);
  outer.vector(1);
  const extensions = new Vectors(outer.atEnd ? Buffer.alloc(0) : outer.vector(2));
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!extensions.atEnd && !extensions.broken) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (seen.has(type)) return { kind: 'not-tls' };
    seen.add(type);
    if (type !== serverNameExtension) continue;
    const names = new Vectors(content);
    const list = new Vectors(names.vector(2));
    const isHostName = list.number(1) === hostName;
    const name = list.vector(2);
    if (!isHostName || !list.atEnd || !names.atEnd || list.broken || names.broken) return { kind: 'not-tls' };
    serverName = name.toString('latin1').toLowerCase();
  }
  if (outer.broken || extensions.broken || !outer.atEnd) return { kind: 'not-tls' };
  return { kind: 'hello', serverName, isEncrypted: encryptedExtensions.some((type) => seen.has(type)) };
}

/** Reads length-prefixed fields; once one does not fit it is `broken` and everything read is empty. */
class Vectors {
  readonly #bytes: Buffer;
  #at = 0;
  broken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(count: number): void {
    this.#take(count);
  }

  number(size: number): number {
    const octets = this.#take(size);
    return octets.length === size ? octets.readUIntBE(0, size) : -1;
  }

  vector(lengthSize: number): Buffer {
    return this.#take(Math.max(0, this.number(lengthSize)));
  }

  #take(count: number): Buffer {
    if (this.broken || this.#at + count > this.#bytes.length) {
      this.broken = true;
      return Buffer.alloc(0);
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}
