import type { VerifiedCriterion } from '../../../engine/intent/draft/held-criteria.ts';
import type { GoalCriterion, SessionGoal } from '../../state/goal.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { blockGoal } from './block-goal.ts';

/**
 * Ties the criteria of a goal to the checks of its draft, and tells it. Where a criterion has none, the goal is blocked
 * and the turn ends: nobody is asked to confirm what cannot be verified.
 */
export async function holdGoal(
  scope: TurnScope,
  goal: SessionGoal,
  draft: string,
  verified: readonly VerifiedCriterion[],
): Promise<readonly GoalCriterion[] | Exclude<StepEnd, 'waits'>> {
  const criteria = goal.criteria.map(
    ({ id, text }): GoalCriterion => ({
      id,
      text,
      checks: verified.find(({ criterion }) => criterion === id)?.checks ?? [],
      status: 'open',
    }),
  );
  await scope.tell({ type: 'goal-moved', goal: goal.id, change: { draft, criteria } });
  const untied = criteria.filter(({ checks }) => checks.length === 0);
  if (untied.length === 0) return criteria;
  const named = untied.map(({ id, text }) => `- ${id}: ${text}`).join('\n');
  await blockGoal(scope, goal, 'criterion_unverifiable', `no check of the draft verifies\n${named}`);
  return { end: 'done' };
}
