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

/** An append-only log (slot `log`). `append` resolves after the entry is durable and a checkpoint covers it. */
export interface TransparencyLog {
  readonly mode: string;
  append(body: Uint8Array): Promise<LogProof>;
}
