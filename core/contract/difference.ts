/** Where stored records and what they lead to part for the first time. */
export interface Difference {
  /** Path in the run's record. */
  readonly file: string;
  /** JSON pointer into it; '' for the file as a whole. */
  readonly field: string;
  /** As JSON text, or in words. */
  readonly expected: string;
  readonly found: string;
}
