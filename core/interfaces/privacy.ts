import type { DataClass } from './intentspec.gen.ts';

/** A data class that content can be found to be of; `public` is what is of none. */
export type SensitiveClass = Exclude<DataClass, 'public'>;

export const sensitiveClasses: readonly SensitiveClass[] = [
  'internal',
  'confidential',
  'pii',
  'phi',
  'secrets',
];

/** Words of a repository's own that mark content, from `[redaction]` of the config at the policy commit. */
export type ClassWords = Readonly<Partial<Record<SensitiveClass, readonly string[]>>>;

/** What may be stored and shown under a spec (`constraints.privacy`). */
export interface PrivacyPolicy {
  /**
   * Removed from everything that is written: all classes not allowed where redaction is required, else secrets unless
   * they are allowed.
   */
  readonly remove: readonly SensitiveClass[];
  /** Classes that no context may hold. */
  readonly beyond: readonly SensitiveClass[];
  /** `[redaction]` of the config at the policy commit. */
  readonly words: ClassWords;
}

/**
 * What was removed under one rule; `digests` are HMAC-SHA256 values under a key that is stored nowhere, one per
 * different value (32 at most).
 */
export interface Redaction {
  readonly rule: string;
  readonly class: SensitiveClass;
  readonly count: number;
  readonly digests: readonly string[];
}
