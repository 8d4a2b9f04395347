import type { RewrittenTests } from '../../core/interfaces/rule.ts';

/** Octets of a trimmed objective. */
export const maxObjectiveBytes = 16 * 1024;

/** What else a client may name for a goal to be held to. */
export const criterionBounds = { count: 20, least: 5, most: 500 } as const;

/** `blocked`: no work is done for it until a person continues it. */
type GoalStatus = 'active' | 'blocked' | 'achieved' | 'cancelled';

/** Why no work is done for a goal. */
export type BlockReason =
  | BudgetReason
  /** Neither the files nor the failed checks are others than after the run before. */
  | 'no_progress'
  /** The drafted spec has no check that verifies a criterion. */
  | 'criterion_unverifiable'
  /** A run was committed in which tests that failed at its base pass only because they were rewritten. */
  | 'expectation_changed'
  /** No spec was drafted for it. */
  | 'draft_refused'
  /** The model stayed unreachable after all retries. */
  | 'provider_failed'
  /** A person cancelled its draft or its plan. */
  | 'declined'
  /** Its turn was cancelled, or the process was killed. */
  | 'interrupted'
  /** The budget of the session is spent, or the price is unknown. */
  | 'session_budget'
  /** A run waits for approvals. */
  | 'awaiting_people'
  /** Another fault ended its turn and is recorded there. */
  | 'failed';

export interface GoalCriterion {
  readonly id: string;
  readonly text: string;
  /** Ids of the spec's checks that verify it. Empty until a spec is drafted. */
  readonly checks: readonly string[];
  /** `accepted`: those checks passed in a run that was committed. `refuted`: one of them did not. */
  readonly status: 'open' | 'accepted' | 'refuted';
}

/** An objective that is pursued run after run until its checks pass. */
export interface SessionGoal {
  readonly id: string;
  readonly objective: string;
  readonly status: GoalStatus;
  /** The first one is derived from the objective. */
  readonly criteria: readonly GoalCriterion[];
  /** Evaluated runs. */
  readonly loops: number;
  readonly budget: GoalBudget;
  /** Where it is blocked. */
  readonly blockReason?: BlockReason;
  /** The turn that pursues it, or pursued it last. */
  readonly turn: string;
  /** Id of its draft. */
  readonly draft?: string;
  /** The run that was begun last for it. */
  readonly run?: string;
  /** The last evaluated run. */
  readonly judged?: string;
  /** Digest of what that one left: its files and the checks that failed. */
  readonly trace?: string;
  /** Failing tests that its runs made pass by rewriting them. */
  readonly rewritten?: Rewriting;
}

/** Such tests, with the ids of the checks that run them. */
export interface Rewriting extends RewrittenTests {
  readonly checks: readonly string[];
}

/** What may change of a goal. */
export interface GoalChange
  extends Partial<
    Pick<
      SessionGoal,
      'status' | 'blockReason' | 'criteria' | 'loops' | 'turn' | 'draft' | 'judged' | 'trace' | 'rewritten'
    >
  > {
  readonly limit?: GoalBudget['limit'];
  /** Milliseconds of work more. */
  readonly workedMs?: number;
}

/** A goal that is neither achieved nor given up. */
export function isOpenGoal({ status }: Pick<SessionGoal, 'status'>): boolean {
  return status === 'active' || status === 'blocked';
}

/** Tokens, their cost, and milliseconds of work. */
export interface GoalAmounts {
  readonly tokens: number;
  /** For models with a known price. For others only tokens count. */
  readonly costUsd: number;
  readonly workMs: number;
}

/** The budget of a goal; it only grows. */
interface GoalBudget {
  /** What one yes of a person adds. */
  readonly grant: GoalAmounts;
  readonly limit: GoalAmounts;
  readonly used: GoalAmounts;
}

/** Which of them is used up, by the reason that it stops a goal with. */
export type BudgetReason = 'budget_tokens' | 'budget_cost' | 'budget_time';

export const noAmounts: GoalAmounts = { tokens: 0, costUsd: 0, workMs: 0 };

/** A budget with nothing used. */
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

/** A goal as clients get it. Pure. */
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

/** The open goal that the running turn is for. */
export function pursuedGoal({
  goal,
  turn,
}: {
  readonly goal: SessionGoal | undefined;
  readonly turn: string | undefined;
}): SessionGoal | undefined {
  return goal !== undefined && isOpenGoal(goal) && goal.turn === turn ? goal : undefined;
}
