import { schedulerOf } from '../spec/scheduler-of.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { NewIntentEvent } from './append-intent-events.ts';

/** What an intent's history says of one run of it: that it began, and what it came to. Same run, same events. */
export function runEventsOf(
  contract: Pick<AdmittedContract, 'effective' | 'digest'>,
  run: { readonly runId: string; readonly startedAtMs: number; readonly decidedAtMs: number },
  decision: Pick<StoredObject<'decision'>, 'type' | 'rationale'>,
): readonly NewIntentEvent[] {
  const { intent } = contract.effective;
  const about = {
    by: schedulerOf(contract.effective),
    run: run.runId,
    digest: contract.digest,
  } as const;
  return [
    { ...about, kind: 'run-started', reason: intent.summary, nowMs: run.startedAtMs },
    {
      ...about,
      kind: 'run-decided',
      reason: `${decision.type}: ${decision.rationale}`,
      nowMs: run.decidedAtMs,
    },
  ];
}
