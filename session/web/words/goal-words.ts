import { tokenWords, usdWords } from '../../screen/usage-words.ts';
import { toSpan } from '../../screen/words/to-span.ts';

/** Amounts of a budget, as a snapshot has them. */
export interface Amounts {
  readonly tokens: number;
  readonly costUsd: number;
  readonly seconds: number;
}

/** Amounts in a row: `200k tokens, $2.00, 1h 00m`. */
export function amountsWords({ tokens, costUsd, seconds }: Amounts): string {
  return [`${tokenWords(tokens)} tokens`, usdWords(costUsd), toSpan(1000 * seconds)].join(', ');
}

/** What an Execute grants a goal; nothing where the question is about none. */
export function grantsWords(grants: unknown): string {
  const { tokens, costUsd, seconds } = (grants ?? {}) as Partial<Record<keyof Amounts, unknown>>;
  if (typeof tokens !== 'number' || typeof costUsd !== 'number' || typeof seconds !== 'number') return '';
  return amountsWords({ tokens, costUsd, seconds });
}
