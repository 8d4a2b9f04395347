import { maskedPath } from '../store/record/masked-record.ts';
import type { Attempt } from './attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import { keepMasked } from './keep-masked.ts';
import { recordFiles } from './record-files.ts';
import { settleRun } from './settle-run.ts';

/** Acts on a decision against the change: the run is recorded, and nothing of the person's was or is touched. */
export async function abandon(attempt: Attempt, judged: JudgedRun): Promise<void> {
  const nowMs = await attempt.steps.once('abandoned-at', () => attempt.settings.clock.now());
  const { rationale } = judged.decision;
  const files = new Map(await recordFiles(attempt, judged, { type: 'abandon', rationale, nowMs }));
  const masked = keepMasked(attempt, judged);
  if (masked) files.set(maskedPath, masked.record);
  await settleRun(attempt, files, [], masked?.bytes);
}
