/* What a painter of a terminal does, and how often it draws. */

import type { Clock } from '../../../core/base/clock.ts';
import type { Line } from '../../screen/line.ts';

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Draws finished lines, which scroll away, and below them a small live region. Writes only what differs. */
export interface Painter {
  /**
   * Prints finished lines above the live region, in one frame with the next `live` of the same turn of the event loop,
   * so that a line never appears twice.
   */
  commit(lines: readonly Line[]): void;
  /**
   * Replaces the live region: at most `rows - 1` lines, cut at the top and at the right. Without a cursor it is
   * hidden.
   */
  live(lines: readonly Line[], cursor?: Cursor): void;
  /** Redraws the live region for another size; nothing above it changes. */
  resized(size: Size): void;
  /** Removes the live region and writes nothing until `resume`. */
  pause(): void;
  /** Draws the live region below the current line, for a terminal of this size. */
  resume(size: Size): void;
  /** Removes the live region. Nothing is written afterwards. */
  close(): void;
}

/** Calls what draws, not more often than a person sees. */
interface Frames {
  /** Something changed: drawn in this turn of the event loop if nothing was for long enough, else when it was. */
  ask(): void;
  /** Draws at once: the answer to a key does not wait. */
  now(): void;
  stop(): void;
}

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
