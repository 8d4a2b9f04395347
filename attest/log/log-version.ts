import type { Checkpoint } from './checkpoint.ts';
import { isPrefix } from './ledger-proofs.ts';
import { type LedgerFileReader, readSubtrees } from './tile-reader.ts';

/** One version of a log and its files. */
export interface LogVersion<Head extends Checkpoint = Checkpoint> {
  readonly head: Head;
  readonly read: LedgerFileReader;
}

/** True if the log begins with the entries that the checkpoint covers. */
export function isPartOf(checkpoint: Checkpoint, { head, read }: LogVersion): Promise<boolean> {
  return isPrefix(checkpoint, head, readSubtrees(read, head.size));
}
