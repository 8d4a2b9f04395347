import { type Clock, systemClock } from '../../core/base/clock.ts';

/** The wall clock of a run sleeps for its whole budget, which is longer than any wait for a retry. */
const longestRetryMs = 3_600_000;

/** A clock that skips waits for retries and adds their length, in ms, to `waits`. Longer waits are real. */
export function quickClock(waits: number[]): Clock {
  let skipped = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + skipped,
    sleep: (ms, signal) => {
      if (ms > longestRetryMs) return systemClock.sleep(ms, signal);
      waits.push(ms);
      skipped += ms;
      return Promise.resolve();
    },
  };
}
