/* Records the connections of a check. */
import type { NetworkUse } from '../../core/interfaces/scanner.ts';

/** A connection as it ended, or several that are counted already. */
type Ended = Omit<NetworkUse, 'connections'> & { readonly connections?: number };

/**
 * Maximum number of connection kinds with their own entry. Later kinds share an entry without a name, so that a
 * hostile check cannot fill its record.
 */
const maxKinds = 100;

/** What a check did on the network, alike connections together, in the order they first ended. */
export class UseList {
  readonly #uses = new Map<string, NetworkUse>();

  add(connection: Ended): void {
    const { host, port, via, outcome, why, address, reasons } = connection;
    const key = JSON.stringify([host, port, via, outcome, why, address, reasons]);
    if (this.#uses.has(key) || this.#uses.size < maxKinds) {
      this.#merge(key, connection);
      return;
    }
    // Outcome and reason stay separate, because there are few obstacles.
    const { address: _, ...rest } = connection;
    this.#merge(`other ${outcome} ${why}`, {
      ...rest,
      host: '(others)',
      port: 0,
      via: 'connect',
      reasons: [],
    });
  }

  list(): readonly NetworkUse[] {
    return [...this.#uses.values()];
  }

  #merge(key: string, connection: Ended): void {
    const known = this.#uses.get(key);
    this.#uses.set(key, {
      ...(known ?? connection),
      connections: (known?.connections ?? 0) + (connection.connections ?? 1),
      sentBytes: (known?.sentBytes ?? 0) + connection.sentBytes,
      receivedBytes: (known?.receivedBytes ?? 0) + connection.receivedBytes,
    });
  }
}

/** A host as a client wrote it, fit to be shown. */
export function readableHost(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 253);
}
