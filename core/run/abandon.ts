import type { Attempt } from './attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import { recordFiles } from './record-files.ts';
import { settleRun } from './settle-run.ts';

/** Acts on a decision against the change: the run is recorded, and nothing of the person's was or is touched. */
export async function abandon(attempt: Attempt, judged: JudgedRun): Promise<void> {
  const files = await recordFiles(attempt, judged, { type: 'abandon', rationale: judged.decision.rationale });
  await settleRun(attempt, files, undefined);
}
