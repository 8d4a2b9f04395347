import { pursuedGoal } from '../../state/pursued-goal.ts';
import { draftStep } from '../draft-step.ts';
import type { MadePlan } from '../plan-step.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { askAgain } from './ask-again.ts';

/**
 * The first step of a goal's turn: a contract is drafted of its objective. One that goes on where a plan was made asks
 * what is to be done with that: nothing is executed without a person's yes.
 */
export async function goalStep(scope: TurnScope): Promise<StepEnd> {
  const { state, setting } = scope;
  const goal = pursuedGoal(state());
  if (goal === undefined) throw new TypeError('a turn of a goal that there is not');
  const plan = state().plans.findLast(
    (one): one is MadePlan & typeof one => one.run !== undefined && one.run.runId === goal.draft,
  );
  if (plan !== undefined) return askAgain(scope, plan, setting.networkAccess);
  return draftStep(scope, [goal.objective]);
}
