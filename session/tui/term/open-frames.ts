import type { Clock } from '../../../core/base/clock.ts';

/** Calls what draws, not more often than a person sees. */
export interface Frames {
  /** Something changed: drawn in this turn of the event loop if nothing was for long enough, else when it was. */
  ask(): void;
  /** Draws now whatever was asked for: an answer to a key waits for nothing. */
  now(): void;
  /** Nothing is drawn from then on. */
  stop(): void;
}

/** Thirty times a second. */
const usualMs = 33;

export function openFrames(clock: Clock, draw: () => void, leastMs = usualMs): Frames {
  const stopped = new AbortController();
  let asked = false;
  let last = Number.NEGATIVE_INFINITY;
  const now = (): void => {
    asked = false;
    if (stopped.signal.aborted) return;
    last = clock.monotonic();
    draw();
  };
  const due = (): void => {
    if (asked) now();
  };
  return {
    ask: () => {
      if (asked) return;
      asked = true;
      const wait = last + leastMs - clock.monotonic();
      if (wait <= 0) queueMicrotask(due);
      else clock.sleep(wait, stopped.signal).then(due, () => {});
    },
    now,
    stop: () => stopped.abort(),
  };
}
