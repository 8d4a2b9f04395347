import { setTimeout as pause } from 'node:timers/promises';

/**
 * Lets a chosen time pass before something is done to what is at work, so that it is hit anywhere: whatever it was at,
 * the test holds.
 */
export function instant(ms: number): Promise<void> {
  return pause(ms);
}
