import type { BudgetReason, GoalBudget } from './goal-budget.ts';

/** Octets of an objective, trimmed (document 2, Limits). */
export const maxObjectiveBytes = 16 * 1024;

/** What else a client may name for a goal to be held to. */
export const criterionBounds = { count: 20, least: 5, most: 500 } as const;

/** `blocked`: nothing is done for it until a person says so. */
type GoalStatus = 'active' | 'blocked' | 'achieved' | 'cancelled';

/** Why nothing is done for a goal. */
export type BlockReason =
  | BudgetReason
  /** Neither the files nor the failed checks are others than after the run before. */
  | 'no_progress'
  /** The drafted contract has no check that says whether a criterion holds. */
  | 'criterion_unverifiable'
  /** A run was committed in which tests that failed at its base pass only because they were rewritten. */
  | 'expectation_changed'
  /** No contract was drafted of it. */
  | 'draft_refused'
  /** The model could not be reached, however often it was asked. */
  | 'provider_failed'
  /** A person cancelled its draft or its plan. */
  | 'declined'
  /** Its turn was cancelled, or the process was killed. */
  | 'interrupted'
  /** The session has cost what it may cost, or nobody knows what the next question would. */
  | 'session_budget'
  /** A run waits for approvals. */
  | 'awaiting_people'
  /** Something else ended its turn, which says what. */
  | 'failed';

/** One thing by which a goal is judged. */
export interface GoalCriterion {
  readonly id: string;
  readonly text: string;
  /** Ids of the contract's checks that verify it; empty as long as no contract is drafted. */
  readonly checks: readonly string[];
  /** `accepted`: those checks passed in a run that was committed. `refuted`: one of them did not. */
  readonly status: 'open' | 'accepted' | 'refuted';
}

/** What a person wants, pursued run after run until checks say that it is so (resolutions, Goal). */
export interface SessionGoal {
  readonly id: string;
  readonly objective: string;
  readonly status: GoalStatus;
  /** The first one is derived from the objective. */
  readonly criteria: readonly GoalCriterion[];
  /** Runs that were judged. */
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
  /** The run that was judged last. */
  readonly judged?: string;
  /** Digest of what that one left: its files and the checks that failed. */
  readonly trace?: string;
}

/** What may change of a goal. */
export interface GoalChange
  extends Partial<
    Pick<SessionGoal, 'status' | 'blockReason' | 'criteria' | 'loops' | 'turn' | 'draft' | 'judged' | 'trace'>
  > {
  readonly limit?: GoalBudget['limit'];
  /** Milliseconds of work more. */
  readonly workedMs?: number;
}

/** A goal that is neither achieved nor given up. */
export function isOpenGoal({ status }: Pick<SessionGoal, 'status'>): boolean {
  return status === 'active' || status === 'blocked';
}
