import { setTimeout as pause } from 'node:timers/promises';

/** How often it is looked. */
const lookEveryMs = 4;
/** Milliseconds, where what is waited for is expected not to come: a guard has been removed. */
export const patienceVariable = 'WRIT_TEST_PATIENCE_MS';
/** Without progress for so long, what is waited for does not come. */
const patienceMs = Number(process.env[patienceVariable] ?? 240_000);

/**
 * Resolves once `holds` does. It is late only when nothing went on for minutes, and rejects with `what` then;
 * `progress` answers what goes on: as long as its answer changes, the wait is not over.
 */
export async function until(
  holds: () => unknown,
  what = 'what a test waits for',
  progress: () => unknown = () => undefined,
): Promise<void> {
  let seen = progress();
  let since = performance.now();
  while (!(await holds())) {
    const now = progress();
    if (now !== seen) since = performance.now();
    seen = now;
    if (performance.now() - since > patienceMs) throw new Error(`${what} did not come`);
    await pause(lookEveryMs);
  }
}
