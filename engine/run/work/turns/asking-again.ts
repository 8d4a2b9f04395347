import { isWritError } from '../../../../core/base/errors.ts';
import type { FailureKind } from '../../../../core/contract/model.ts';

/** How often a question is asked in all, by why there was no reply. What is not here is asked once. */
const tries: Readonly<Partial<Record<FailureKind, number>>> = {
  'rate-limited': 6,
  overloaded: 6,
  server: 4,
  unreachable: 4,
  'broken-reply': 3,
};
const firstWaitMs = 1000;
const maxWaitMs = 60_000;
/** A vendor that asks for a longer wait has refused. */
const maxAskedWaitSeconds = 600;

/** Milliseconds until the question is asked again; `undefined` where it is not. */
export function msBeforeAsking(fault: unknown, tried: number): number | undefined {
  if (!isWritError(fault, 'PROVIDER_FAILED')) return undefined;
  const { kind, retryAfterSeconds } = fault.detail as {
    readonly kind?: FailureKind;
    readonly retryAfterSeconds?: number;
  };
  if (kind === undefined || tried >= (tries[kind] ?? 1)) return undefined;
  if (retryAfterSeconds !== undefined)
    return retryAfterSeconds > maxAskedWaitSeconds ? undefined : retryAfterSeconds * 1000;
  return Math.min(maxWaitMs, firstWaitMs * 2 ** (tried - 1));
}
