/** Usage and cost of models, and budgets that are too small. */
import { WritError } from '../../core/base/errors.ts';

/** What questions to models came to. */
export interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost of calls with a known price. Absent if there is none. */
  readonly costUsd?: number;
  /** The price of a model was unknown. */
  readonly unpriced?: true;
}

/** What a session came to so far, over its whole thread. */
export interface SessionUsage extends Used {
  /** Tokens of the newest question and its reply. */
  readonly contextTokens?: number;
  /** Tokens that its model holds, where that is known. */
  readonly contextWindow?: number;
  /** Of the turn that runs, or ran last. */
  readonly turn?: Used;
  /** Where the session stops. */
  readonly limitUsd?: number;
}

/** Usage of one model call; without a cost if the price is unknown. */
export interface UsedOnce extends Pick<Used, 'inputTokens' | 'outputTokens' | 'costUsd'> {
  readonly contextWindow?: number;
}

export const nothingUsed: Used = { inputTokens: 0, outputTokens: 0 };

/** More than any thread comes to: what a vendor claims is added up, and a sum stays a number that can be read. */
const most = 1e15;

/** Both together. Pure. */
export function withUsed(before: Used, { inputTokens, outputTokens, costUsd }: UsedOnce): Used {
  const cost = costUsd === undefined ? before.costUsd : (before.costUsd ?? 0) + costUsd;
  return {
    inputTokens: Math.min(most, before.inputTokens + inputTokens),
    outputTokens: Math.min(most, before.outputTokens + outputTokens),
    ...(cost === undefined ? {} : { costUsd: Math.min(most, cost) }),
    ...(costUsd === undefined || before.unpriced === true ? { unpriced: true } : {}),
  };
}

/** Rounds the cost to a millionth of a dollar. */
export function roundedUsage<U extends Used>({
  costUsd,
  ...used
}: U): Omit<U, 'costUsd'> & Pick<Used, 'costUsd'> {
  return { ...used, ...(costUsd === undefined ? {} : { costUsd: Math.round(costUsd * 1e6) / 1e6 }) };
}

export function budgetUnpriced(model: string, limitUsd: number): WritError {
  return new WritError('SESSION_BUDGET_UNPRICED', {
    message: `the price of \`${model.slice(0, 100)}\` is unknown, so the limit of ${limitUsd} USD cannot be applied`,
    detail: { model: model.slice(0, 200), limit_usd: limitUsd },
  });
}

/** What the work at one Task of a plan came to, or is expected to. */
export interface StepCost {
  /** The line of the plan that the Task begins with: it is worked as a whole, and so it is paid. */
  readonly line: string;
  readonly tokens: number;
  /** Absent if the price is unknown. */
  readonly costUsd?: number;
}

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

/** Warns if the estimate exceeds the cap in the spec. */
export function shortCap(
  { maxCostUnits }: { readonly maxCostUnits: number },
  { tokens, costUsd }: Omit<StepCost, 'line'>,
): string | undefined {
  // An unknown price counts as the run itself counts it.
  const units = Math.ceil(costUsd === undefined ? tokens / 1000 : 1000 * costUsd);
  if (maxCostUnits === 0 || units <= maxCostUnits) return undefined;
  return `the spec is short: this is estimated at ${units} cost units, and \`maxCostUnits\` allows ${maxCostUnits}; the run would wait for a person on the way`;
}
