/** The only source of time. Injected wherever a decision or a wait depends on it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that never steps back. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', stop, { once: true });
      function done(): void {
        signal?.removeEventListener('abort', stop);
        resolve();
      }
      function stop(): void {
        clearTimeout(timer);
        reject(signal?.reason);
      }
    }),
};

/** By how much the clocks of two machines may differ: a signed time up to this much later than now is accepted. */
export const clockSkewMs = 5 * 60_000;

export function toRfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * Returns the first instant after a day in UTC, in epoch milliseconds. Returns NaN if the text is not `YYYY-MM-DD`,
 * or names a day that does not exist, such as 30 February.
 */
export function endOfDay(day: string): number {
  const start = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(start) && new Date(start).toISOString().startsWith(`${day}T`);
  return isDay ? start + 86_400_000 : Number.NaN;
}
