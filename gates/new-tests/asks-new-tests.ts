import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** Whether a contract asks its change for a new test case (document 1, requireNewTestsWhenBugfix). */
export function asksNewTests({ intent, acceptance }: EffectiveIntentSpec): boolean {
  return intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix;
}
