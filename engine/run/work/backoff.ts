import type { Clock } from '../../../core/base/clock.ts';

/** No wait is longer (document 1, Limits). */
const maxRetryWaitSeconds = 3600;

/** Seconds before the n-th retry, from 1: `backoffSeconds` × 2^(n−1), at most 3600 (document 1, Execution policy). */
export function retryWaitSeconds(backoffSeconds: number, retry: number): number {
  // 2^1024 is infinite, and 0 × infinite is no number.
  const doublings = Math.min(Math.max(retry - 1, 0), 12);
  return Math.min(backoffSeconds * 2 ** doublings, maxRetryWaitSeconds);
}

/** How long the clock may have been stepped forward, or the machine asleep, before a wait notices. */
const lookEveryMs = 30_000;

/**
 * Waits until the clock has reached `dueMs` (epoch), which may have been written down by an earlier process. A clock
 * that steps back never lengthens the wait beyond what was left of it, and no wait exceeds the cap. Rejects with the
 * signal's reason.
 */
export async function waitUntil(clock: Clock, dueMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  let leftMs = Math.min(dueMs - clock.now(), maxRetryWaitSeconds * 1000);
  while (leftMs > 0) {
    const sliceMs = Math.min(leftMs, lookEveryMs);
    await clock.sleep(sliceMs, signal);
    signal?.throwIfAborted();
    leftMs = Math.min(leftMs - sliceMs, dueMs - clock.now());
  }
}
