import type { Clock } from '../../../core/base/clock.ts';

/** How often snapshots may go out. */
export interface Pace {
  /** Milliseconds until the next one may: 0 is now. `urgent` ones wait for no delta. */
  waitMs(urgent: boolean): number;
  /** One goes out. */
  spend(): void;
}

/** At most 10 snapshots a second (resolutions, Events) … */
const intervalMs = 100;
/** … and so many at once that nobody may miss. */
const burst = 20;

/**
 * Deltas are an interval apart. A change of status or controller goes out at once as long as the burst lasts, which
 * comes back at the same rate: whatever happens, none waits for longer than an interval.
 */
export function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  let spentAt = Number.NEGATIVE_INFINITY;
  let left: number = burst;
  let countedAt = clock.monotonic();
  const count = (): number => {
    const now = clock.monotonic();
    left = Math.min(burst, left + (now - countedAt) / intervalMs);
    countedAt = now;
    return now;
  };
  return {
    waitMs: (urgent) => {
      const now = count();
      const forBurst = left >= 1 ? 0 : (1 - left) * intervalMs;
      return urgent ? forBurst : Math.max(forBurst, spentAt + intervalMs - now, 0);
    },
    spend: () => {
      spentAt = count();
      left = Math.max(0, left - 1);
    },
  };
}
