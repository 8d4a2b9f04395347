import type { ConfigSection } from './config-section.ts';
import type { OutsideLog, OutsideProof } from './outside-log.ts';
import type { SealingPlace } from './sealing-place.ts';
import type { Signer } from './signer.ts';

/** Proof that one entry stands in a log, enough to check it offline (RFC 6962 2.1.1, C2SP tlog-checkpoint). */
export interface LogProof extends OutsideProof {
  readonly origin: string;
  /** The entry as logged; its leaf hash is what the path starts from. */
  readonly body: Uint8Array;
  /** Id of a public log, 32 octets, as its trusted root has it; that of an internal one follows from its key. */
  readonly logId?: Uint8Array;
  /** What a Rekor v1 log promised when it took the entry: the only time in a proof that others vouch for. */
  readonly promise?: InclusionPromise;
}

/** A signed entry timestamp (Rekor v1). */
export interface InclusionPromise {
  /** Seconds since the epoch. */
  readonly integratedTime: number;
  /** Number of the entry over all trees of the log; `LogProof.logIndex` counts in its own tree. */
  readonly logIndex: number;
  /** The log's signature over entry, time, number and its id. */
  readonly signature: Uint8Array;
}

export interface AppendOptions {
  /**
   * A size that the log had before this very entry was first handed in: where the same bytes stand behind it, that
   * entry is answered and nothing is appended. For callers that may have been stopped between appending and writing
   * that down.
   */
  readonly behind?: number;
}

/** An append-only log. `append` resolves after the entry is durable and a checkpoint covers it. */
export interface TransparencyLog extends Pick<OutsideLog, 'consistency'> {
  readonly mode: string;
  /**
   * The log's name and Ed25519 key, `name+hint+base64` (C2SP signed-note): what a verifier pins. A public log is known
   * by its trusted root instead.
   */
  vkey(): Promise<string | undefined>;
  /** Sigstore TrustedRoot (JSON) that the answers of a public log are checked against. */
  readonly trustedRoot?: Uint8Array;
  append(body: Uint8Array, options?: AppendOptions): Promise<LogProof>;
  /** Entries that a checkpoint covers; 0 where there is no log yet, and for a public one, which is not asked. */
  size(): Promise<number>;
}

/** What of `[log]` a log reads. */
export interface LogForm {
  /** Reads its own keys; absent for one that has none. What it answers is `place.config.log` under its name. */
  readSection?(section: ConfigSection): unknown;
}

/** Opens the log of one repository (slot `log`, by `provenance.transparencyLog.mode`); mode `none` has none. */
export interface LogSource extends LogForm {
  open(place: SealingPlace, signer: Signer): Promise<TransparencyLog | undefined>;
}
