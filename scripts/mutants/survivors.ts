/** A mutant that no test notices, and why that does no harm. */
export interface Survivor {
  readonly file: string;
  /** The line that it stands on, without its indentation. */
  readonly line: string;
  /** What becomes of what: `from → to`. */
  readonly change: string;
  readonly reason: string;
}

/** Mutants that `scripts/sample-mutants.ts` found unnoticed and that may stay so. */
export const survivors: readonly Survivor[] = [];
