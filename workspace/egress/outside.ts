/* DNS and TLS as the proxy uses them. */
import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { rootCertificates, type TLSSocket, connect as tlsOver } from 'node:tls';

/** The network as the proxy sees it. */
export interface Outside {
  /** Returns every address of a name. Called once per connection. */
  resolve(host: string): Promise<readonly string[]>;
  /** Connects to exactly that address. The name is not resolved again. */
  connect(address: string, port: number): Socket;
  /** Addresses of this machine. They are refused as targets, even if they are public. */
  ownAddresses(): readonly string[];
  /** Certificates in PEM that vouch for hosts beside those that Node knows. */
  readonly authorities?: readonly string[];
}

/** Opens TLS over a socket for exactly that name or address. The connection fails if the peer cannot prove it. */
export function secured(socket: Socket, host: string, authorities: readonly string[] = []): TLSSocket {
  return tlsOver({
    socket,
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] }),
  });
}

/** The real one. The root dot keeps the search list and the hosts file out of it. */
export const realOutside: Outside = {
  resolve: async (host) =>
    (await lookup(`${host}.`, { all: true, order: 'verbatim' })).map(({ address }) => address),
  connect: (host, port) => connect({ host, port, allowHalfOpen: true }),
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)),
};

// HTTP functions of the proxy, for clients and for sockets to addresses that were checked.
export { createServer, type IncomingMessage, request, type ServerResponse };
