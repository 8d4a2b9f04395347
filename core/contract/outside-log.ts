/** A log that somebody else's plugin speaks to: whatever it answers is checked before it counts. */
export interface OutsideLog {
  append(body: Uint8Array, behind: number): Promise<OutsideProof>;
  size(): Promise<number>;
  /** Nodes that show `from` entries to be the first of `to` (RFC 9162, 2.1.4); whoever asks verifies them. */
  consistency?(from: number, to: number): Promise<Pick<OutsideProof, 'hashes'>>;
}

/** What of a `LogProof` such a log says. */
export interface OutsideProof {
  readonly logIndex: number;
  readonly treeSize: number;
  /** RFC 6962 root and audit path, leaf to root. */
  readonly rootHash: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  /** Signed note text. */
  readonly checkpoint: string;
}
