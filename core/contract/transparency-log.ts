/** Proof that one entry stands in a log, enough to check it offline (RFC 6962 2.1.1, C2SP tlog-checkpoint). */
export interface LogProof {
  readonly origin: string;
  readonly logIndex: number;
  readonly treeSize: number;
  /** RFC 6962 root and audit path, leaf to root. */
  readonly rootHash: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  /** Signed note text. */
  readonly checkpoint: string;
  /** The entry as logged; its leaf hash is what the path starts from. */
  readonly body: Uint8Array;
}

export interface AppendOptions {
  /**
   * A size that the log had before this very entry was first handed in: where the same bytes stand behind it, that entry is
   * answered and nothing is appended. For callers that may have been stopped between appending and writing that down.
   */
  readonly behind?: number;
}

/** An append-only log. `append` resolves after the entry is durable and a checkpoint covers it. */
export interface TransparencyLog {
  readonly mode: string;
  /** The log's name and Ed25519 key, `name+hint+base64` (C2SP signed-note): what a verifier pins. */
  vkey(): Promise<string>;
  append(body: Uint8Array, options?: AppendOptions): Promise<LogProof>;
  /** Entries that a checkpoint covers; 0 where there is no log yet. */
  size(): Promise<number>;
}

/** Opens the log of one repository (slot `log`, by `provenance.transparencyLog.mode`); mode `none` has none. */
export interface LogSource {
  open(place: { readonly commonDir: string }): Promise<TransparencyLog | undefined>;
}
