import type { Line } from '../../screen/line.ts';

/** Where the cursor stands in the live region: rows and columns from 0. */
export interface Cursor {
  readonly row: number;
  readonly column: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * What stands on a terminal: finished lines, which belong to it from then on, and below them a small live region that
 * changes. Writes what differs, and no more.
 */
export interface Painter {
  /**
   * Prints finished lines above the live region, broken between words where they are too long (see `wrapLine`). They
   * are written together with the next live region of the same turn of the event loop, so that a line which was live
   * and is finished now is never there twice, nor written twice.
   */
  commit(lines: readonly Line[]): void;
  /**
   * Replaces the live region; at most `rows - 1` lines, each at most as wide as the terminal: more lines are cut at the
   * top, longer ones at the right. Without a cursor there is none to be seen.
   */
  live(lines: readonly Line[], cursor?: Cursor): void;
  /** The terminal has another size now: the live region is drawn anew, nothing above it is touched. */
  resized(size: Size): void;
  /** Takes the live region away, and writes nothing until `resume`: somebody else has the terminal. */
  pause(): void;
  /**
   * Draws the live region below whatever stands there now, in a terminal that may have another size. Without a `pause`
   * before it the old one is left where it is.
   */
  resume(size: Size): void;
  /** Takes the live region away; the cursor stands on a line of its own. Nothing is written from then on. */
  close(): void;
}
