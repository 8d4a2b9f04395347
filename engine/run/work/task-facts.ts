import type { SettledAttempt } from '../record/settled-attempt.ts';
import type { OpenRun } from '../state/attempt.ts';

/** Retries are counted per Task. */
export function taskFacts(
  run: OpenRun,
  { key, attempt }: Pick<SettledAttempt, 'key' | 'attempt'>,
): { readonly id: string; readonly attempt: number; readonly maxRetries: number } {
  return { id: key, attempt, maxRetries: run.identity.contract.effective.execution.retry.maxRetries };
}
