import { canonicalDigest } from '../../../core/base/canonical.ts';
import { uuidV7From } from '../../../core/base/ids.ts';
import { schedulerOf } from '../../spec/scheduler-of.ts';
import { sealObject } from '../../store/stored-object.ts';
import type { OpenRun } from '../state/attempt.ts';
import { attemptIdOf } from './attempt-files.ts';
import type { SettledAttempt } from './settled-attempt.ts';

/** A Decision.Checkpoint that suspends nothing, kept with the record as `decisions/<what>.json`. */
export async function recordCheckpoint(
  run: OpenRun,
  what: string,
  { name, decision }: SettledAttempt,
  rationale: string,
): Promise<void> {
  const {
    identity: { runId, startedAtMs, contract },
  } = run;
  await run.means.steps.once(`checkpoint/${what}`, async () => {
    const { bytes } = sealObject(
      'decision',
      {
        run: attemptIdOf(run, name),
        type: 'checkpoint',
        rationale,
        reasons: [rationale],
        input_digest: decision.inputDigest,
        decision_digest: canonicalDigest(decision),
        evidence: [],
      },
      {
        nowMs: await run.means.steps.once(`checkpoint/${what}/at`, () => run.means.settings.clock.now()),
        objectId: uuidV7From(startedAtMs, `${runId}/checkpoint/${what}`),
        createdBy: schedulerOf(contract.effective),
      },
    );
    await run.means.record.put([[`decisions/${what}.json`, bytes]]);
  });
}
