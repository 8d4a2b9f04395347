import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';

/** Writes under one lease within a window (resolutions, Controllers). */
const [most, windowMs] = [120, 60_000];

/** Counts the writes of a lease; RATE_LIMITED with the seconds until the oldest of them is out of the window. */
export function countWrites(clock: Pick<Clock, 'monotonic'>): (tokenDigest: string) => void {
  let lease = '';
  let at: number[] = [];
  return (tokenDigest) => {
    const now = clock.monotonic();
    at = tokenDigest === lease ? at.filter((one) => one > now - windowMs) : [];
    lease = tokenDigest;
    const [oldest] = at;
    if (at.length >= most && oldest !== undefined) {
      const seconds = Math.max(1, Math.ceil((oldest + windowMs - now) / 1000));
      throw new WritError('RATE_LIMITED', { detail: { retry_after_seconds: seconds, most } });
    }
    at.push(now);
  };
}
