/** Network limits of a check, in octets and milliseconds. */
export interface EgressLimits {
  readonly headerBytes: number;
  /** At the same time, and in all. */
  readonly openConnections: number;
  readonly connections: number;
  /** Both ways together, over the whole check. */
  readonly bytes: number;
  /** Timeout for the client to send a request head or a ClientHello. */
  readonly headMs: number;
  readonly resolveMs: number;
  readonly connectMs: number;
  /** Silence on a connection. */
  readonly idleMs: number;
  readonly connectionMs: number;
}

export const defaultLimits: EgressLimits = {
  headerBytes: 16_384,
  openConnections: 64,
  connections: 10_000,
  bytes: 4 * 1024 ** 3,
  headMs: 10_000,
  resolveMs: 10_000,
  connectMs: 10_000,
  idleMs: 60_000,
  connectionMs: 900_000,
};
