import { lookup } from 'node:dns/promises';
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

/** The real one. A name is looked up as it stands: without the search list, and without the hosts file's short names. */
export const realOutside: Outside = {
  resolve: async (host) =>
    (await lookup(`${host}.`, { all: true, order: 'verbatim' })).map(({ address }) => address),
  connect: (host, port) => connect({ host, port, allowHalfOpen: true }),
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((one) => one.address)),
};
