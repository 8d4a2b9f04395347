import { isWritError } from '../../core/base/errors.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { type CheckpointMemory, forked } from './checkpoint-memory.ts';
import { readHistory } from './ledger-history.ts';
import { rangeHash } from './merkle/range-hash.ts';
import { readSubtrees } from './tile-reader.ts';

/**
 * `first`: nothing was seen of the log. `same`: this very tree was, or is shown to be a part of what was. `unknown`: it
 * cannot be told.
 */
type Compared = 'first' | 'same' | 'unknown';

/**
 * Holds a verified checkpoint to what this user has seen of its log, by what the memory keeps alone. A tree that
 * differs is refused (`forked`), and nothing is ever remembered here.
 */
export async function compareSeen(found: SignedCheckpoint, memory: CheckpointMemory): Promise<Compared> {
  const [same, largest] = await Promise.all([memory.at(found, found.size), memory.latest(found)]);
  if (same !== undefined) {
    if (!same.root.equals(found.root)) throw forked(same, found);
    return 'same';
  }
  if (largest === undefined) return 'first';
  if (largest.size < found.size || memory.history === undefined) return 'unknown';
  const read = memory.history(found);
  try {
    const root = await rangeHash({ start: 0, end: found.size }, readSubtrees(read, largest.size));
    if (root.equals(found.root)) return 'same';
    // Tiles that were damaged here are no reason to doubt a log.
    await readHistory(read, largest);
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return 'unknown';
    throw fault;
  }
  throw forked(largest, found);
}

/** True for the refusal of two trees of one size. */
export function isForked(fault: unknown): boolean {
  return isWritError(fault) && fault.detail.reason === 'forked';
}

/**
 * Keeps checkpoints that are the first of their log or were shown to continue what was seen, `history` with the last.
 * Refuses another root of a size seen before. A home that cannot be written to is no reason to doubt the log: `false`.
 */
export async function rememberSeen(
  checkpoints: readonly SignedCheckpoint[],
  memory: CheckpointMemory,
  history?: ReadonlyMap<string, Uint8Array>,
): Promise<boolean> {
  const head = checkpoints.at(-1);
  try {
    for (const checkpoint of checkpoints)
      await memory.remember(checkpoint, checkpoint === head ? history : undefined);
    return true;
  } catch (fault) {
    if (['EROFS', 'EACCES', 'EPERM'].includes((fault as NodeJS.ErrnoException).code ?? '')) return false;
    throw fault;
  }
}
