import { blamedErrors } from '../decide/blame-candidate.ts';
import { failedOutput, failedTests, failureText, withOutput } from '../record/failure-text.ts';
import { keepHandedBack } from '../record/handed-back.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import type { PlanState } from '../record/plan-state.ts';
import type { Attempt } from '../state/attempt.ts';
import { acceptedWork } from './accepted-work.ts';
import { handBack, replan, startOver } from './replan.ts';
import { triggerOf } from './trigger-of.ts';

/**
 * A merged candidate that failed goes back to whoever wrote what it was refused for: those Tasks start over. Where that
 * is nobody, to the last Task, whose next attempt starts on it. Where a trigger fired, with a new plan. `name` is what
 * the record calls the candidate.
 */
export async function handBackCandidate(
  attempt: Attempt,
  state: PlanState,
  judged: JudgedRun,
  name: string,
): Promise<void> {
  const { findings, stages, input } = judged;
  const guilty = (input.blame?.tasks ?? []).map(({ id }) => id);
  const failure = failureText(findings, stages);
  const output = failedOutput(stages);
  await keepHandedBack(attempt, judged, name, state.draft);
  const keys =
    guilty.length > 0
      ? guilty
      : [handBack(state, attempt.patch.candidateTree, withOutput(failure, output)).key];
  if (guilty.length > 0) {
    const errors = await blamedErrors(attempt, judged, acceptedWork(state));
    for (const key of guilty)
      startOver(state, key, withOutput(failureText(errors.get(key) ?? [], []), output));
  }
  if (judged.decision.next !== 'replan') return;
  const trigger = triggerOf(judged);
  await replan(attempt, state, {
    keys,
    failure,
    failedTests: failedTests(stages),
    ...(trigger === undefined ? {} : { trigger }),
  });
}
