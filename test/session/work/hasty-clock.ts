import { type Clock, systemClock } from '../../../core/base/clock.ts';

/** Attempts of a run wait for one another; nobody here has that time. */
export const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 120_000 ? ms : Math.min(ms, 5), signal),
};
