import type { Snapshot } from '../../state/snapshot.ts';
import { rowsOf, wordOf } from '../question/asked.ts';
import { estimateWords } from '../usage-words.ts';

type Costs = Pick<Snapshot['plans'][number], 'estimates' | 'actuals'>;

/** What the lines of a plan that Tasks begin with are expected to cost, and what they came to, in words, by line. */
export function stepCosts({ estimates = [], actuals = [] }: Costs): ReadonlyMap<string, string> {
  const lines = new Set([...estimates, ...actuals].map(({ line }) => line));
  const of = (costs: typeof estimates, line: string) => costs.find((one) => one.line === line);
  return new Map([...lines].map((line) => [line, estimateWords(of(estimates, line), of(actuals, line))]));
}

/** What a plan that waits for a yes is expected to cost, and what that is guessed from; empty where nobody guessed. */
export function planCostWords({ estimated, estimatedFrom }: Readonly<Record<string, unknown>>): string {
  const [cost] = rowsOf([estimated]);
  if (typeof cost?.tokens !== 'number' || cost.tokens === 0) return '';
  const { tokens, costUsd } = cost;
  const from = typeof estimatedFrom === 'number' ? estimatedFrom : 0;
  const basis = from === 0 ? 'assumed' : `from ${from} earlier ${from === 1 ? 'task' : 'tasks'}`;
  return `${estimateWords({ tokens, ...(typeof costUsd === 'number' ? { costUsd } : {}) })} (${basis})`;
}

/** The same of each line, as the question has it; none where one line is all there is. */
export function lineCostWords({ estimates, lines }: Readonly<Record<string, unknown>>): readonly string[] {
  const costs = rowsOf(estimates);
  const ids = Array.isArray(lines) ? lines : [];
  if (costs.length < 2) return [];
  return costs.flatMap(({ line, tokens, costUsd }) => {
    const at = ids.indexOf(wordOf(line));
    if (typeof tokens !== 'number' || at < 0) return [];
    return [
      `line ${at + 1}: ${estimateWords({ tokens, ...(typeof costUsd === 'number' ? { costUsd } : {}) })}`,
    ];
  });
}
