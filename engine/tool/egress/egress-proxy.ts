import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NetworkUse } from '../../../core/contract/network-use.ts';
import { forwardRequest } from './forward.ts';
import { defaultLimits, type EgressLimits } from './limits.ts';
import type { EgressPolicy } from './openings.ts';
import { createServer, type IncomingMessage, type Outside, realOutside } from './outside.ts';
import { type Egress, Passage } from './passage.ts';
import type { Target } from './target.ts';
import { answer, serveTunnel } from './tunnel.ts';
import { UseList } from './use-list.ts';

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
