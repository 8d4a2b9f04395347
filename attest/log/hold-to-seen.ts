import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { OutsideLog } from '../../core/interfaces/sealing.ts';
import type { Checkpoint, SignedCheckpoint } from './checkpoint.ts';
import { type CheckpointMemory, forked } from './checkpoint-memory.ts';
import { isForked, rememberSeen } from './compare-seen.ts';
import { isConsistent } from './merkle/verify-consistency.ts';

/** Asks a log for the nodes of a consistency proof; what it answers is verified here. */
export type ProveGrowth = NonNullable<OutsideLog['consistency']>;

const maxWords = 300;

/**
 * Holds a verified checkpoint to what this user has seen of its log, and keeps it: the sizes next to it, the smaller
 * and the larger, are shown to be of one history with it, and so are those that another process kept meanwhile. The
 * order in which two checkpoints are shown says nothing: whoever appends at once is overtaken. Another tree of a size
 * is LOG_FORKED; no proof, or one that does not hold, LOG_FAILED (`unproven`), and nothing is kept of it.
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
    // Of an empty tree there is nothing to show.
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
