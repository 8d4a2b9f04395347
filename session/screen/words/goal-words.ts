import type { Snapshot } from '../../state/snapshot.ts';
import { tokenWords, usdWords } from '../usage-words.ts';
import { toSpan } from './to-span.ts';

type ShownGoal = Pick<NonNullable<Snapshot['goal']>, 'loops' | 'budget'>;

/** Amounts of a budget, as a snapshot has them. */
export interface Amounts {
  readonly tokens: number;
  readonly costUsd: number;
  readonly seconds: number;
}

/** Amounts in a row: `200k tokens, $2.00, 1h 00m`. */
function amountsWords({ tokens, costUsd, seconds }: Amounts): string {
  return [`${tokenWords(tokens)} tokens`, usdWords(costUsd), toSpan(1000 * seconds)].join(', ');
}

/** How far a goal is within what it may use up: `run 2 · 18k of 100k tok · $0.04 of $1.00 · 3m 34s of 10m 00s`. */
export function progressWords({ loops, budget: { tokens, costUsd, seconds } }: ShownGoal): string {
  const span = (count: number): string => toSpan(1000 * count);
  return [
    `run ${loops + 1}`,
    `${tokenWords(tokens.used)} of ${tokenWords(tokens.limit)} tok`,
    `${usdWords(costUsd.used)} of ${usdWords(costUsd.limit)}`,
    `${span(seconds.used)} of ${span(seconds.limit)}`,
  ].join(' · ');
}

/** What an Execute grants a goal; nothing where the question is about none. */
export function grantsWords(grants: unknown): string {
  const { tokens, costUsd, seconds } = (grants ?? {}) as Partial<Record<keyof Amounts, unknown>>;
  if (typeof tokens !== 'number' || typeof costUsd !== 'number' || typeof seconds !== 'number') return '';
  return amountsWords({ tokens, costUsd, seconds });
}
