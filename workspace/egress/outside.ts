import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { rootCertificates, type TLSSocket, connect as tlsOver } from 'node:tls';

/** The network as the proxy sees it. */
export interface Outside {
  /** Every address of a name, asked once per connection. */
  resolve(host: string): Promise<readonly string[]>;
  /** A socket on its way to that very address; nothing is resolved again. */
  connect(address: string, port: number): Socket;
  /** Addresses of this machine, which are no way out even where they are public. */
  ownAddresses(): readonly string[];
  /** Certificates in PEM that vouch for hosts beside those that Node knows. */
  readonly authorities?: readonly string[];
}

/** TLS over a socket, for that very name or address: whoever cannot prove it is not talked to. */
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

// HTTP as the proxy speaks it, to a client and over a socket that leads to a judged address.
export { createServer, type IncomingMessage, request, type ServerResponse };
