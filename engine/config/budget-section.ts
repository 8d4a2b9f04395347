import type { TableReader } from './table-reader.ts';

/** `[budget]`: what a session may cost. */
export interface BudgetConfig {
  /** USD over a whole thread; absent: nothing stops it. */
  readonly sessionUsd?: number;
}

/** What can be set at all, here and with `/budget`. USD. */
export const budgetBounds = { min: 0.01, max: 1_000_000 } as const;

/** Reads `[budget]`. */
export function readBudgetSection(reader: TableReader): BudgetConfig {
  const sessionUsd = reader.number('session_usd', undefined, budgetBounds.min, budgetBounds.max);
  reader.end();
  return sessionUsd === undefined ? {} : { sessionUsd };
}
