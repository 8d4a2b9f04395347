import type { Fact } from './fact.ts';
import { grantedLimit } from './goal-budget.ts';
import type { Interaction } from './interaction.ts';
import { pursuedGoal } from './pursued-goal.ts';
import type { SessionState } from './state.ts';

/**
 * What an answer to its draft or its plan makes of a goal: Execute grants one budget from here on, by a person alone;
 * Cancel leaves it blocked. Pure.
 */
export function answeredGoal(
  state: SessionState,
  { kind }: Pick<Interaction, 'kind'>,
  option: string,
): readonly Fact[] {
  const goal = pursuedGoal(state);
  if (goal === undefined || (kind !== 'intent_review_choice' && kind !== 'post_plan_choice')) return [];
  if (option === 'execute') return [moved(goal.id, { status: 'active', limit: grantedLimit(goal.budget) })];
  return option === 'cancel' ? [moved(goal.id, { status: 'blocked', blockReason: 'declined' })] : [];
}

function moved(goal: string, change: Extract<Fact, { readonly type: 'goal-moved' }>['change']): Fact {
  return { type: 'goal-moved', goal, change };
}
