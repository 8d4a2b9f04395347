const tickMs = 250;
const maxTicks = 40;

/**
 * Acts once nothing has arrived for a tick, or after ten seconds; the caller clears the timer. For output that a
 * descendant outside the group holds open after its leader has gone. Between two ticks the loop has read what was
 * there, so a tick without progress means that nobody writes any more.
 */
export function whenQuiet(progress: () => number, act: () => void): NodeJS.Timeout {
  let seen = -1;
  let ticks = 0;
  return setInterval(() => {
    const now = progress();
    ticks += 1;
    if (now === seen || ticks > maxTicks) act();
    seen = now;
  }, tickMs);
}
