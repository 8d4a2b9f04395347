import { WritError } from '../../core/base/errors.ts';
import type { WorkUsage } from '../../core/interfaces/worker.ts';

/**
 * A cap on what workers cost and what they have used, in units of 0.001 USD; a limit of 0 is none (resolutions,
 * maxCostUnits).
 */
export interface CostBudget {
  readonly limitUnits: number;
  readonly usedUnits: number;
}

/** What attempts used in all. INTERNAL for a cost that is no cost: it would lower the sum or switch the cap off. */
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

/** True past the cap: nothing goes on before a person has spoken. */
export function isOverCap({ limitUnits, usedUnits }: CostBudget): boolean {
  return limitUnits > 0 && usedUnits > limitUnits;
}

/** How many Tasks may be worked on side by side: `limit`, or one from 90 % of the cap on. */
export function taskLimit(limit: number, budget: CostBudget): number {
  return isNearCap(budget) ? 1 : limit;
}

/**
 * True for the one attempt whose cost took the run to 90 % of its cap: `before` and `after` it, under the same cap. Of
 * attempts that are summed up one after the other, exactly one is it.
 */
export function isCheckpointDue(limitUnits: number, beforeUnits: number, afterUnits: number): boolean {
  return (
    isNearCap({ limitUnits, usedUnits: afterUnits }) && !isNearCap({ limitUnits, usedUnits: beforeUnits })
  );
}
