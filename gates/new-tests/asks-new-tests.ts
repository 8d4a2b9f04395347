import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** What is wrong with a fix in whose test files no new case is. */
export const noNewCase =
  'the contract is for a bugfix, and the patch changes test files without adding a test case';

/** Whether a contract asks its change for a new test case (document 1, requireNewTestsWhenBugfix). */
export function asksNewTests({ intent, acceptance }: EffectiveIntentSpec): boolean {
  return intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix;
}
