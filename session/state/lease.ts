/** How long a lease lives without a write of its holder (resolutions, Controllers). */
export const leaseMs = 120_000;

/** The right to write, as one client holds it. */
export interface Lease {
  readonly kind: 'browser' | 'automation';
  readonly clientId: string;
  /** SHA-256 of its token; the token itself is in no state. */
  readonly tokenDigest: string;
  /** For people and clients: by the wall clock when it was granted or renewed. */
  readonly expiresAtMs: number;
  /** When it ends, in milliseconds of the monotonic clock of this process: a step of the wall clock changes nothing. */
  readonly endsAtMs: number;
}

/** When a lease that is granted or renewed now ends. */
export function leaseEnd({
  nowMs,
  monotonicMs,
}: {
  readonly nowMs: number;
  readonly monotonicMs: number;
}): Pick<Lease, 'expiresAtMs' | 'endsAtMs'> {
  return { expiresAtMs: nowMs + leaseMs, endsAtMs: monotonicMs + leaseMs };
}

/** Whether a client of that kind may ask for the session at all. */
export function isLeaseKind(kind: string): kind is Lease['kind'] {
  return kind === 'browser' || kind === 'automation';
}

/** What a request brings along to show that it may write. */
export type Proof =
  /** The screen or the standard input of the process itself. */
  | { readonly from: 'local' }
  | {
      readonly from: 'client';
      /** Of the lease token; absent where none was sent. */
      readonly tokenDigest?: string;
      /** Of the process's own token. */
      readonly controlToken: 'missing' | 'invalid' | 'valid';
    };
