import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { ClassWords } from './find-sensitive.ts';
import type { SensitiveClass } from './sensitive-match.ts';

/** What may be written and shown under a contract (document 1, Constraints, privacy). */
export interface PrivacyPolicy {
  /** Removed from everything that is written: all classes not allowed where redaction is required, else secrets unless they are allowed. */
  readonly remove: readonly SensitiveClass[];
  /** Classes that no context may hold. */
  readonly beyond: readonly SensitiveClass[];
  /** `[redaction]` of the config at the policy commit. */
  readonly words: ClassWords;
}

export const sensitiveClasses: readonly SensitiveClass[] = [
  'internal',
  'confidential',
  'pii',
  'phi',
  'secrets',
];

/** The policy of a contract. Where secrets are not allowed they are never written, redaction or not. */
export function privacyPolicyOf(spec: EffectiveIntentSpec, words: ClassWords = {}): PrivacyPolicy {
  const { dataClassesAllowed, redactionRequired } = spec.constraints.privacy;
  const beyond = sensitiveClasses.filter((one) => !dataClassesAllowed.includes(one));
  return { remove: redactionRequired ? beyond : beyond.filter((one) => one === 'secrets'), beyond, words };
}
