import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { compareSeen } from '../log/compare-seen.ts';
import type { CheckList } from './check-list.ts';
import type { VerifiedInclusion } from './verify-log.ts';

/**
 * Holds the log of one attestation or proof to what the user has seen of it (`log-history`): a fork is refused by
 * whatever it is shown, and nothing is remembered, as one attestation shows nothing of the log but its own place. What
 * cannot be compared counts where a log is `required`; a public log's never does, which grows by the second and whose
 * sizes nothing compares offline.
 */
export async function judgeSeen(
  list: CheckList,
  { checkpoint, log }: VerifiedInclusion,
  memory: CheckpointMemory | undefined,
  required: boolean,
): Promise<void> {
  if (memory === undefined) return;
  list.expect('log-history');
  try {
    if ((await compareSeen(checkpoint, memory)) !== 'unknown') return list.settle('log-history', 'passed');
  } catch (fault) {
    await list.judge('log-history', () => {
      throw fault;
    });
    return;
  }
  const seen = (await memory.latest(checkpoint))?.size ?? 0;
  const open = { seen, found: checkpoint.size, ...(log && { log: 'public' }) };
  if (required && log === undefined) list.settle('log-history', 'unverified', 'not-comparable', open);
  else list.waive('log-history', 'not-comparable', open);
}
