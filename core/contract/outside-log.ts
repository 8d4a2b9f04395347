/** A log that somebody else's plugin speaks to: whatever it answers is checked before it counts. */
export interface OutsideLog {
  append(body: Uint8Array, behind: number): Promise<OutsideProof>;
  size(): Promise<number>;
}

/** What of a `LogProof` such a log says. */
export interface OutsideProof {
  readonly logIndex: number;
  readonly treeSize: number;
  readonly rootHash: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  readonly checkpoint: string;
}
