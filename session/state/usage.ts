import { WritError } from '../../core/base/errors.ts';

/** What questions to models came to. */
export interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of what has a price; absent where nothing has. */
  readonly costUsd?: number;
  /** Some of it was asked of a model whose price nobody knows. */
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

/** What one question and its reply came to; without a cost where nobody knows the price of the model. */
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

/** As it is told: a cost to a millionth of a dollar. */
export function toldUsed<U extends Used>({
  costUsd,
  ...used
}: U): Omit<U, 'costUsd'> & Pick<Used, 'costUsd'> {
  return { ...used, ...(costUsd === undefined ? {} : { costUsd: Math.round(costUsd * 1e6) / 1e6 }) };
}

/** SESSION_BUDGET_UNPRICED: what costs nobody knows what cannot be held to a limit. */
export function budgetUnpriced(model: string, limitUsd: number): WritError {
  return new WritError('SESSION_BUDGET_UNPRICED', {
    message: `it is unknown what \`${model.slice(0, 100)}\` costs: the limit of ${limitUsd} USD cannot be held`,
    detail: { model: model.slice(0, 200), limit_usd: limitUsd },
  });
}
