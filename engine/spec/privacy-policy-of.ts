import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { type ClassWords, type PrivacyPolicy, sensitiveClasses } from '../../core/contract/privacy-policy.ts';

/** The policy of a contract. Where secrets are not allowed they are never written, redaction or not. */
export function privacyPolicyOf(spec: EffectiveIntentSpec, words: ClassWords = {}): PrivacyPolicy {
  const { dataClassesAllowed, redactionRequired } = spec.constraints.privacy;
  const beyond = sensitiveClasses.filter((one) => !dataClassesAllowed.includes(one));
  return { remove: redactionRequired ? beyond : beyond.filter((one) => one === 'secrets'), beyond, words };
}
