import type { Line } from '../../screen/line.ts';

/** Where the cursor stands in the live region: rows and columns from 0. */
export interface Cursor {
  readonly row: number;
  readonly column: number;
}

/**
 * What stands on a terminal: finished lines, which belong to it from then on, and below them a small live region that
 * changes. Writes what differs, and no more.
 */
export interface Painter {
  /** Prints finished lines above the live region, wrapped to the width of the terminal. */
  commit(lines: readonly Line[]): void;
  /** Replaces the live region; at most `rows - 1` lines, each at most as wide as the terminal. */
  live(lines: readonly Line[], cursor?: Cursor): void;
  /** The terminal has another size now: the live region is drawn anew, nothing above it is touched. */
  resized(size: { readonly columns: number; readonly rows: number }): void;
  /** Takes the live region away; the cursor stands on a line of its own. */
  close(): void;
}
