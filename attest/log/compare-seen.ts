/* Compares checkpoints with what this user has seen of their log. */
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { OutsideLog } from '../../core/interfaces/sealing.ts';
import type { Checkpoint, SignedCheckpoint } from './checkpoint.ts';
import { type CheckpointMemory, forked } from './checkpoint-memory.ts';
import { readHistory } from './ledger-reader.ts';
import { isConsistent, rangeHash } from './merkle.ts';
import { readSubtrees } from './tiles.ts';

/**
 * `first`: this user has seen no checkpoint of the log. `same`: this user has seen this tree, or a later one that
 * contains it. `unknown`: the stored data cannot decide.
 */
type Compared = 'first' | 'same' | 'unknown';

/**
 * Compares a verified checkpoint with the user's stored checkpoints of its log, without other data. Refuses a
 * different tree (`forked`). Never stores a checkpoint.
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
    // Damaged local tiles are no reason to distrust a log.
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
 * Stores checkpoints that are the first of their log or proven to continue the known ones, and `history` with the
 * last. Refuses a different root for a known size. Returns `false` if the home directory is not writable: that is no
 * reason to distrust the log.
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

/** Requests the nodes of a consistency proof from a log; the caller verifies them. */
export type ProveGrowth = NonNullable<OutsideLog['consistency']>;

const maxWords = 300;

/**
 * Compares a verified checkpoint with the user's stored checkpoints of its log, and stores it. The checkpoint must be
 * consistent with the next smaller and next larger stored sizes, including those that another process stores
 * meanwhile. The order of two checkpoints proves nothing, because appends overtake each other.
 *
 * Throws LOG_FORKED for another tree of a known size. Throws LOG_FAILED (`unproven`) without a valid consistency
 * proof, and then stores nothing.
 */
export async function holdToSeen(
  found: SignedCheckpoint,
  memory: CheckpointMemory,
  prove: ProveGrowth,
): Promise<void> {
  const shown = new Set<number>();
  const holdToNear = async (): Promise<void> => {
    for (const seen of await memory.near(found, found.size)) {
      if (shown.has(seen.size)) continue;
      await requireOneHistory(seen, found, prove);
      shown.add(seen.size);
    }
  };
  try {
    const same = await memory.at(found, found.size);
    if (same !== undefined && !same.root.equals(found.root)) throw forked(same, found);
    await holdToNear();
    await rememberSeen([found], memory);
    // A log that shows each of two processes another history is found by whichever of them comes here last.
    await holdToNear();
  } catch (fault) {
    if (!isWritError(fault) || !isForked(fault)) throw fault;
    throw new WritError('LOG_FORKED', { message: fault.message, detail: fault.detail, cause: fault });
  }
}

async function requireOneHistory(
  seen: Checkpoint,
  found: SignedCheckpoint,
  prove: ProveGrowth,
): Promise<void> {
  const [from, to] = seen.size < found.size ? [seen, found] : [found, seen];
  let nodes: readonly Uint8Array[];
  try {
    // An empty tree needs no consistency proof.
    nodes = from.size === 0 ? [] : (await prove(from.size, to.size)).hashes;
  } catch (cause) {
    throw unproven(seen, found, `none: ${messageOf(cause).slice(0, maxWords)}`, cause);
  }
  if (isConsistent(from, to, nodes)) return;
  throw unproven(seen, found, `${nodes.length} nodes that do not lead from one root to the other`);
}

/** LOG_FAILED about a log that does not show that what it signs now and what was seen of it are one history. */
function unproven(seen: Checkpoint, found: SignedCheckpoint, answer: string, cause?: unknown): WritError {
  const { origin } = found;
  const [from, to] = [Math.min(seen.size, found.size), Math.max(seen.size, found.size)];
  return new WritError('LOG_FAILED', {
    message: `the log \`${origin}\` was seen with ${seen.size} entries and shows ${found.size} now: expected a proof that its first ${from} of ${to} are the same (RFC 9162, 2.1.4), found ${answer}; ask its operator, and if it was restarted on purpose, forget what was seen of it (\`trust/checkpoints\`)`,
    detail: {
      reason: 'unproven',
      origin,
      seen: seen.size,
      found: found.size,
      answer,
      seen_checkpoint: seen.source.trimEnd().split('\n'),
      found_checkpoint: found.source.trimEnd().split('\n'),
    },
    hints: [
      'keep both checkpoints and show them to the operator of the log',
      'where the log was started over on purpose, remove its folder in `~/.config/writ/trust/checkpoints`',
    ],
    cause,
  });
}
