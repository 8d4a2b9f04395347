import type { Fact, TurnEnd } from './fact.ts';
import { type BlockReason, type GoalChange, isOpenGoal, type SessionGoal } from './goal.ts';
import { addAmounts } from './goal-budget.ts';

/** A goal as a change leaves it; one that was given up or achieved stays so, whatever comes late. Pure. */
export function movedGoal(goal: SessionGoal, { limit, workedMs = 0, ...change }: GoalChange): SessionGoal {
  const { blockReason, ...rest } = isOpenGoal(goal) ? { ...goal, ...change } : goal;
  const { used } = goal.budget;
  const budget = {
    ...goal.budget,
    ...(limit === undefined ? {} : { limit }),
    used: { ...used, workMs: used.workMs + workedMs },
  };
  return {
    ...rest,
    budget,
    ...(rest.status === 'blocked' ? { blockReason: blockReason ?? 'failed' } : {}),
  };
}

const reasonOf: Readonly<Record<TurnEnd, BlockReason>> = {
  done: 'declined',
  cancelled: 'interrupted',
  failed: 'failed',
  decided: 'failed',
};

/** What the end of its turn leaves of a goal: nobody works on it any more. */
export function afterTurnOf(goal: SessionGoal, turn: string, end: TurnEnd): SessionGoal {
  if (goal.turn !== turn || goal.status !== 'active') return goal;
  return movedGoal(goal, { status: 'blocked', blockReason: reasonOf[end] });
}

/** What a question to a model, asked in its turn, leaves of a goal. */
export function usedByGoal(
  goal: SessionGoal,
  { turn, inputTokens, outputTokens, costUsd = 0 }: Extract<Fact, { readonly type: 'used' }>,
): SessionGoal {
  if (goal.turn !== turn) return goal;
  const { budget } = goal;
  const more = { tokens: inputTokens + outputTokens, costUsd, workMs: 0 };
  return { ...goal, budget: { ...budget, used: addAmounts(budget.used, more) } };
}
