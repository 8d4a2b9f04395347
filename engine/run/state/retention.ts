import { toRfc3339 } from '../../../core/base/clock.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';

const dayMs = 86_400_000;

/** How long artifact content lives: the lower of the two limits of the contract (resolutions, Retention). */
export interface Retention {
  /** False: content is dropped at the decision and only digests stay. */
  readonly keepsContent: boolean;
  /** RFC 3339, from the time an artifact was created; absent where nothing is kept. */
  expiresAt(createdAtMs: number): string | undefined;
}

/** Days that artifact content is kept at most: the lower of the two limits. */
export function retentionDaysOf(spec: EffectiveIntentSpec): number {
  return Math.min(spec.artifacts.retention.days, spec.constraints.privacy.retentionDays);
}

/** `artifacts.retention.days` and `constraints.privacy.retentionDays`, whichever is lower. 0 keeps nothing. */
export function retentionOf(spec: EffectiveIntentSpec): Retention {
  const days = retentionDaysOf(spec);
  return {
    keepsContent: days > 0,
    expiresAt: (createdAtMs) => (days > 0 ? toRfc3339(createdAtMs + days * dayMs) : undefined),
  };
}
