import type { StepCost } from './cost.ts';
import type { SessionUsage } from './usage.ts';

/** What is to be known of a plan that is expected to cost more than the session may; `undefined` where it is not. */
export function shortBudget(
  limitUsd: number | undefined,
  { costUsd: spentUsd = 0 }: Pick<SessionUsage, 'costUsd'>,
  { costUsd }: Pick<StepCost, 'costUsd'>,
): string | undefined {
  if (limitUsd === undefined || costUsd === undefined) return undefined;
  const leftUsd = Math.max(0, limitUsd - spentUsd);
  if (costUsd <= leftUsd) return undefined;
  const [cost, left] = [costUsd, leftUsd].map((usd) => usd.toFixed(4));
  return `the budget is short: this is estimated to cost ${cost} USD, and ${left} of ${limitUsd} USD are left; it would stop on the way (\`/budget USD\` raises it)`;
}

/** The same of the cap in its contract. */
export function shortCap(
  { maxCostUnits }: { readonly maxCostUnits: number },
  { tokens, costUsd }: Omit<StepCost, 'line'>,
): string | undefined {
  // An unknown price counts as the run itself counts it.
  const units = Math.ceil(costUsd === undefined ? tokens / 1000 : 1000 * costUsd);
  if (maxCostUnits === 0 || units <= maxCostUnits) return undefined;
  return `the contract is short: this is estimated at ${units} cost units, and \`maxCostUnits\` allows ${maxCostUnits}; the run would wait for a person on the way`;
}
