import { setTimeout as pause } from 'node:timers/promises';

/**
 * Lets a time pass in which something must NOT happen: nothing else proves that it does not. A busy machine makes the
 * proof weaker, and never the test wrong. What must happen is waited for with `until`.
 */
export function lookOn(ms: number): Promise<void> {
  return pause(ms);
}
