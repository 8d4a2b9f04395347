import type { TableReader } from './table-reader.ts';

/** `[goal]`: what one yes of a person lets a goal of a session use up. */
export interface GoalConfig {
  readonly maxTokens: number;
  readonly maxCostUsd: number;
  /** Of work: waiting for a person is none. */
  readonly maxSeconds: number;
}

/** Reads `[goal]`: `tokens`, `cost_usd`, `seconds`. */
export function readGoalSection(reader: TableReader): GoalConfig {
  const maxTokens = reader.integer('tokens', 2_000_000, 1, 1_000_000_000);
  const maxCostUsd = reader.number('cost_usd', 5, 0.001, 10_000);
  const maxSeconds = reader.integer('seconds', 3600, 1, 604_800);
  reader.end();
  return { maxTokens, maxCostUsd, maxSeconds };
}
