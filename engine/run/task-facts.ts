import type { OpenRun } from './attempt.ts';
import type { SettledAttempt } from './settled-attempt.ts';

/** Retries are counted per Task. */
export function taskFacts(
  run: OpenRun,
  { key, attempt }: Pick<SettledAttempt, 'key' | 'attempt'>,
): { readonly id: string; readonly attempt: number; readonly maxRetries: number } {
  return { id: key, attempt, maxRetries: run.contract.effective.execution.retry.maxRetries };
}
