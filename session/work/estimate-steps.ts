import type { StepCost } from '../state/cost.ts';

/** What is known of the work at a plan before it begins. */
export interface WorkAhead {
  /** Each Task that a model works at: its first line, and how large the files are that it is to write. */
  readonly tasks: readonly { readonly line: string; readonly fileBytes: number }[];
  readonly contractBytes: number;
  /** Tokens that Tasks of this thread came to before. */
  readonly earlier: readonly number[];
  /** What a token cost in this turn so far; absent where nobody knows the price. */
  readonly usdPerToken?: number;
}

const charactersPerToken = 4;
/** Instructions and tools, questions until a small Task is done, and tokens of one reply: as assumed, not measured. */
const [standing, turns, reply] = [3000, 6, 300];

/**
 * Estimated tokens and cost of each Task: the median of the thread's Tasks before, else what its questions hold, each
 * of them everything before it, while its files are read. Pure; an estimate, and no promise.
 */
export function estimateSteps({
  tasks,
  contractBytes,
  earlier,
  usdPerToken,
}: WorkAhead): readonly StepCost[] {
  const known = median(earlier);
  return tasks.map(({ line, fileBytes }) => {
    const first = standing + contractBytes / charactersPerToken;
    const grown = fileBytes / charactersPerToken + turns * reply;
    const tokens = Math.round(known ?? turns * (first + grown / 2) + turns * reply);
    return { line, tokens, ...(usdPerToken === undefined ? {} : { costUsd: toUsd(tokens * usdPerToken) }) };
  });
}

/** All of them together; without a cost where one has none. */
export function totalOf(costs: readonly StepCost[]): Omit<StepCost, 'line'> {
  const tokens = costs.reduce((sum, one) => sum + one.tokens, 0);
  const known = costs.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]));
  const usd = known.reduce((sum, one) => sum + one, 0);
  return { tokens, ...(known.length === costs.length && costs.length > 0 ? { costUsd: toUsd(usd) } : {}) };
}

function toUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
