import type { Checkpoint } from './checkpoint.ts';
import { isPrefix } from './ledger-proofs.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { type LedgerFileReader, readSubtrees } from './tile-reader.ts';

/** One version of a log and its files. */
export interface LogVersion<Head extends Checkpoint = Checkpoint> {
  readonly head: Head;
  readonly read: LedgerFileReader;
}

/** True if the log begins with the entries of that tree. */
export function isPartOf(tree: TreeHead, { head, read }: LogVersion): Promise<boolean> {
  return isPrefix(tree, head, readSubtrees(read, head.size));
}
