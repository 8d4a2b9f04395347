import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** The network as the proxy sees it. */
export interface Outside {
  /** Every address of a name, asked once per connection. */
  resolve(host: string): Promise<readonly string[]>;
  /** A socket on its way to that very address; nothing is resolved again. */
  connect(address: string, port: number): Socket;
  /** Addresses of this machine, which are no way out even where they are public. */
  ownAddresses(): readonly string[];
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
