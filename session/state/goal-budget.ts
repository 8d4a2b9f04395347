/** What pursuing a goal takes: tokens of models, what they cost, and milliseconds of work. */
export interface GoalAmounts {
  readonly tokens: number;
  /** Of models whose price is known; of others the tokens alone count. */
  readonly costUsd: number;
  readonly workMs: number;
}

/** What a person lets a goal use up. It is told as it grows and never made smaller. */
export interface GoalBudget {
  /** What one yes of a person adds. */
  readonly grant: GoalAmounts;
  readonly limit: GoalAmounts;
  readonly used: GoalAmounts;
}

/** Which of them is used up, by the reason that it stops a goal with. */
export type BudgetReason = 'budget_tokens' | 'budget_cost' | 'budget_time';

export const noAmounts: GoalAmounts = { tokens: 0, costUsd: 0, workMs: 0 };

/** A budget of which nothing is used. */
export function newBudget(grant: GoalAmounts): GoalBudget {
  return { grant, limit: grant, used: noAmounts };
}

/** Both together. */
export function addAmounts(one: GoalAmounts, other: GoalAmounts): GoalAmounts {
  return {
    tokens: one.tokens + other.tokens,
    costUsd: one.costUsd + other.costUsd,
    workMs: one.workMs + other.workMs,
  };
}

/** The limit after a person's yes: one grant more than is used by now, and never less than it was. */
export function grantedLimit({ grant, limit, used }: GoalBudget): GoalAmounts {
  const next = addAmounts(used, grant);
  return {
    tokens: Math.max(limit.tokens, next.tokens),
    costUsd: Math.max(limit.costUsd, next.costUsd),
    workMs: Math.max(limit.workMs, next.workMs),
  };
}

/** What is used up; `undefined` where something of everything is left. */
export function exhausted({ limit, used }: Pick<GoalBudget, 'limit' | 'used'>): BudgetReason | undefined {
  if (used.costUsd >= limit.costUsd) return 'budget_cost';
  if (used.tokens >= limit.tokens) return 'budget_tokens';
  return used.workMs >= limit.workMs ? 'budget_time' : undefined;
}
