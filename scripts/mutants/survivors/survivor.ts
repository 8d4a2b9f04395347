/** A mutant that no test notices, and why that does no harm. */
export interface Survivor {
  readonly file: string;
  /** The line that it stands on, without its indentation. */
  readonly line: string;
  /** What becomes of what: `from → to`. */
  readonly change: string;
  readonly reason: string;
}

/** Rows of one file. */
export function within(
  file: string,
  rows: readonly (readonly [line: string, change: string, reason: string])[],
): readonly Survivor[] {
  return rows.map(([line, change, reason]) => ({ file, line, change, reason }));
}
