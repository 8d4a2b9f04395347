import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { policyWords } from '../checks/policy-words.ts';

/**
 * The first required policy check of `releaseChecks` that asks one of these rules; `undefined` where the contract has
 * none.
 */
export function reviewStep(
  { acceptance }: EffectiveIntentSpec,
  rules: readonly string[],
): { readonly id: string; readonly rule: string } | undefined {
  for (const { id, kind, required, command = '' } of acceptance.verificationPlan.releaseChecks) {
    const rule = policyWords(command)?.[0] ?? '';
    if (kind === 'policy' && required && rules.includes(rule)) return { id, rule };
  }
  return undefined;
}
