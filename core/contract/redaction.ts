import type { SensitiveClass } from './privacy-policy.ts';

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
