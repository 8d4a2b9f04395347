/* The cost budget of a run, and the number of approvers that it needs. */
import { WritError } from '../../core/base/errors.ts';
import type { WorkUsage } from '../../core/interfaces/worker.ts';
import type { DecisionInput } from '../record/decision-input.ts';

/**
 * A cap on the cost of workers, and the cost so far, in units of 0.001 USD. A limit of 0 sets no cap
 * (`maxCostUnits`).
 */
export interface CostBudget {
  readonly limitUnits: number;
  readonly usedUnits: number;
}

/**
 * Returns the total cost of the attempts. Throws INTERNAL for a negative or non-finite cost, because it would lower
 * the sum or switch the cap off.
 */
export function usedCostUnits(usages: readonly Pick<WorkUsage, 'costUnits'>[]): number {
  return usages.reduce((sum, { costUnits }) => {
    if (Number.isFinite(costUnits) && costUnits >= 0) return sum + costUnits;
    throw new WritError('INTERNAL', {
      message: `expected cost units from 0, found \`${costUnits}\``,
      detail: { found: String(costUnits) },
    });
  }, 0);
}

/** True from 90 % of the cap on. */
export function isNearCap({ limitUnits, usedUnits }: CostBudget): boolean {
  return limitUnits > 0 && usedUnits * 10 >= limitUnits * 9;
}

/** True if the cost is above the cap: the run stops until a person decides. */
export function isOverCap({ limitUnits, usedUnits }: CostBudget): boolean {
  return limitUnits > 0 && usedUnits > limitUnits;
}

/** How many Tasks may be worked on side by side: `limit`, or one from 90 % of the cap on. */
export function taskLimit(limit: number, budget: CostBudget): number {
  return isNearCap(budget) ? 1 : limit;
}

/**
 * True for the one attempt that brought the run to 90 % of its cap. `before` and `after` are its costs under the same
 * cap. In a sequence of attempts, exactly one attempt crosses this point.
 */
export function isCheckpointDue(limitUnits: number, beforeUnits: number, afterUnits: number): boolean {
  return (
    isNearCap({ limitUnits, usedUnits: afterUnits }) && !isNearCap({ limitUnits, usedUnits: beforeUnits })
  );
}

/**
 * A change to the files that govern writ needs two approvers among the signers at the policy commit, whatever the
 * spec requires.
 */
const forGoverning = 2;

/**
 * Returns how many distinct people must approve a candidate: at least one if the spec requires approval. A change to
 * the files that govern writ needs two.
 */
export function approversNeeded(
  { required, needed }: Pick<DecisionInput['human'], 'required' | 'needed'>,
  touchesGoverning: boolean,
): number {
  return Math.max(required ? Math.max(1, needed) : 0, touchesGoverning ? forGoverning : 0);
}
