import { maskedPath } from '../../store/record/masked-record.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import { keepMasked } from '../record/keep-masked.ts';
import { recordFiles } from '../record/record-files.ts';
import { settleRun } from '../record/settle-run.ts';
import type { Attempt } from '../state/attempt.ts';

/** Acts on a decision against the change: the run is recorded, and nothing of the person's was or is touched. */
export async function abandon(attempt: Attempt, judged: JudgedRun): Promise<void> {
  const nowMs = await attempt.means.steps.once('abandoned-at', () => attempt.means.settings.clock.now());
  const { rationale } = judged.decision;
  const files = new Map(await recordFiles(attempt, judged, { type: 'abandon', rationale, nowMs }));
  const masked = keepMasked({ patch: attempt.patch, steps: attempt.means.steps }, judged);
  if (masked) files.set(maskedPath, masked.record);
  await settleRun(attempt, files, [], masked?.bytes);
}
