import type { GoalCriterion, SessionGoal } from './goal.ts';
import type { GoalAmounts } from './goal-budget.ts';

/** A goal as clients get it (resolutions, goal/status). Pure. */
export function toGoalView({ id, objective, status, criteria, loops, budget, blockReason }: SessionGoal) {
  const [used, limit] = [toNumbers(budget.used), toNumbers(budget.limit)];
  return {
    id,
    objective,
    status,
    criteria: criteria.map(toCriterion),
    loops,
    budget: {
      tokens: { used: used.tokens, limit: limit.tokens },
      costUsd: { used: used.costUsd, limit: limit.costUsd },
      seconds: { used: used.seconds, limit: limit.seconds },
    },
    ...(blockReason === undefined ? {} : { blockReason }),
  };
}

function toCriterion({ checks, ...criterion }: GoalCriterion) {
  return { ...criterion, ...(checks.length === 0 ? {} : { checks }) };
}

/** As people count: a cost to a millionth of a dollar, whole seconds. */
export function toNumbers({ tokens, costUsd, workMs }: GoalAmounts) {
  return { tokens, costUsd: Math.round(costUsd * 1e6) / 1e6, seconds: Math.floor(workMs / 1000) };
}
