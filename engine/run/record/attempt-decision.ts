import { type SealOptions, sealObject } from '../../store/stored-object.ts';
import type { Attempt } from '../state/attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import type { JudgementObjects } from './judgement-objects.ts';
import { decisionBody } from './record-files.ts';

/** The decision about one attempt at a Task, as the object that is stored. */
export function attemptDecision(
  attempt: Attempt,
  judged: JudgedRun,
  judgement: JudgementObjects,
  about: { readonly run: string; readonly task: string; readonly attempt: number },
  options: SealOptions,
): Uint8Array {
  const { type, rationale, next } = judged.decision;
  const body = decisionBody(
    attempt,
    judged,
    { type, rationale, nowMs: options.nowMs },
    judgement.evidence.map(({ object }) => object.object_id),
    judgement.patchset.object.object_id,
  );
  return sealObject('decision', { ...body, ...about, next }, options).bytes;
}
