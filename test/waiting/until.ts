import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** How often the condition is evaluated. */
const everyMs = 4;
/** Without progress for so long, the condition will not hold any more. */
const patience = 240_000;

/**
 * Resolves once `holds` returns something truthy. Rejects only if nothing has changed for minutes; the error says what
 * the test waited for (the source of `holds` unless `what` says it in words), and what `holds` and `progress` returned
 * last. As long as the answer of `progress` changes, the wait goes on.
 */
export async function until(
  holds: () => unknown,
  what = `\`${String(holds).slice(0, 400)}\``,
  progress: () => unknown = () => undefined,
  patienceMs = patience,
): Promise<void> {
  let seen = progress();
  let since = performance.now();
  for (;;) {
    const held = await holds();
    if (held) return;
    const now = progress();
    if (now !== seen) since = performance.now();
    else if (performance.now() - since > patienceMs)
      throw new Error(`${what} did not come; seen last: ${inspect(held)}, progress: ${inspect(seen)}`);
    seen = now;
    await pause(everyMs);
  }
}
