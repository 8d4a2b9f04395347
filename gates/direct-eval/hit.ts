/** A place where text becomes code. Offsets are into the source text. */
export interface Hit {
  readonly start: number;
  /** Where the call ends: it counts where any of its lines was added. Absent: it is as good as one character. */
  readonly end?: number;
  /**
   * Further offsets that make it one (an option further down, the other name's origin); a hit counts where any of them
   * was added.
   */
  readonly also?: readonly number[];
  /** What was written, e.g. `eval`. */
  readonly call: string;
  /** Why it counts, lower case, no full stop. */
  readonly why: string;
}
