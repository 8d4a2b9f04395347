import { schedulerOf } from '../spec/scheduler-of.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { appendIntentEvents } from './append-intent-events.ts';
import type { IntentHistory, IntentStore } from './intent-history.ts';

export interface CommittedRun {
  readonly runId: string;
  /** When it was decided. */
  readonly nowMs: number;
  readonly commitSha?: string;
}

/**
 * Decision.Commit closes the intent (resolutions A, Lifecycle). Asked once the intent is recorded and the branch has
 * moved; asked again, it changes nothing. An intent that somebody else ended meanwhile stays as it is.
 */
export async function closeByCommit(
  store: IntentStore,
  contract: Pick<AdmittedContract, 'effective' | 'digest'>,
  { runId, nowMs, commitSha }: CommittedRun,
): Promise<IntentHistory> {
  const { metadata } = contract.effective;
  return appendIntentEvents(store, metadata.id, (before) => {
    if (before?.status === 'closed' || before?.status === 'deprecated') return [];
    return [
      {
        kind: 'closed',
        status: 'closed',
        by: schedulerOf(contract.effective),
        reason: `Decision.Commit of run ${runId}${commitSha === undefined ? '' : `: ${commitSha}`}`,
        run: runId,
        nowMs,
        digest: contract.digest,
      },
    ];
  });
}
