/** A place where text becomes code. Offsets are into the source text. */
export interface Hit {
  readonly start: number;
  /** Further offsets that make it one (an option further down); a hit counts where any of them was added. */
  readonly also?: readonly number[];
  /** What was written, e.g. `eval`. */
  readonly call: string;
  /** Why it counts, lower case, no full stop. */
  readonly why: string;
}
