import { failedTests, failureText } from '../record/failure-text.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import type { PlanState } from '../record/plan-state.ts';
import { attemptsAt } from '../record/plan-state.ts';
import type { Attempt } from '../state/attempt.ts';
import { handBack, replan } from './replan.ts';
import { triggerOf } from './trigger-of.ts';

/**
 * A merged candidate that failed goes back to the last Task, whose next attempt starts on it; where a trigger fired,
 * with a new plan.
 */
export async function handBackCandidate(
  attempt: Attempt,
  state: PlanState,
  judged: JudgedRun,
): Promise<void> {
  const failure = failureText(judged.findings, judged.stages);
  const task = handBack(state, attempt.patch.candidateTree, failure);
  if (judged.decision.next !== 'replan') return;
  const last = attemptsAt(state, task.key).at(-1);
  if (!last) throw new TypeError('a candidate without work');
  const trigger = triggerOf(judged);
  await replan(attempt, state, {
    ...last,
    failure,
    failedTests: failedTests(judged.stages),
    ...(trigger === undefined ? {} : { trigger }),
  });
}
