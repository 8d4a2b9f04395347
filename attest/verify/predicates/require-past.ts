import { clockSkewMs } from '../../../core/base/clock.ts';
import { unavailable } from '../report.ts';

/**
 * Nothing is done at a time that has not come: a stated moment, by member, is at most five minutes after the reader's
 * clock. Which of the two clocks is wrong cannot be told, so that it is VERIFY_NOTHING (`not-yet`).
 */
export function requirePast(moments: Readonly<Record<string, number | undefined>>, nowMs: number): void {
  for (const [member, ms] of Object.entries(moments))
    if (ms !== undefined && ms > nowMs + clockSkewMs)
      throw unavailable('not-yet', {
        member,
        found: new Date(ms).toISOString(),
        expected: `at most five minutes after ${new Date(nowMs).toISOString()}, by the clock of this machine`,
      });
}
