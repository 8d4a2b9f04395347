import type { JudgedRun } from '../record/judged-run.ts';
import type { SettledAttempt } from '../record/settled-attempt.ts';

/** The first trigger that fired and that the contract enables. */
export function triggerOf({ input }: Pick<JudgedRun, 'input'>): SettledAttempt['trigger'] {
  return input.triggers.fired.find((trigger) => input.triggers.enabled.includes(trigger));
}
