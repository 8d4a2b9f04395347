import { WritError } from '../../core/base/errors.ts';
import type { Fact, Speaker } from './fact.ts';
import { exhausted, grantedLimit } from './goal-budget.ts';
import type { Interaction } from './interaction.ts';
import { pursuedGoal } from './pursued-goal.ts';
import type { SessionState } from './state.ts';

/**
 * What an answer to its draft or its plan makes of a goal: Execute grants one budget from here on, Cancel leaves it
 * blocked. A program is given the first budget alone, and goes on with what is left of it; PERSON_REQUIRED where
 * nothing is. Pure.
 */
export function answeredGoal(
  state: SessionState,
  { kind }: Pick<Interaction, 'kind'>,
  option: string,
  by: Speaker,
): readonly Fact[] {
  const goal = pursuedGoal(state);
  if (goal === undefined || (kind !== 'intent_review_choice' && kind !== 'post_plan_choice')) return [];
  if (option === 'execute') {
    const isGranted = by.kind !== 'automation' || goal.run === undefined;
    const used = exhausted(goal.budget);
    if (!isGranted && used !== undefined)
      throw new WritError('PERSON_REQUIRED', {
        message: `the goal's budget is used up (${used}), and a person alone grants one more`,
        detail: { goal: goal.id, reason: used },
      });
    const limit = isGranted ? { limit: grantedLimit(goal.budget) } : {};
    return [moved(goal.id, { status: 'active', ...limit })];
  }
  return option === 'cancel' ? [moved(goal.id, { status: 'blocked', blockReason: 'declined' })] : [];
}

function moved(goal: string, change: Extract<Fact, { readonly type: 'goal-moved' }>['change']): Fact {
  return { type: 'goal-moved', goal, change };
}
