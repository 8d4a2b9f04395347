/** Finds texts in the order in which they stand, and says on which line (from 1). Linear over all calls together. */
export class LineFinder {
  readonly #text: string;
  #at = 0;
  #counted = 0;
  #line = 1;
  #misses = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * The next place after the last one found; `undefined` where there is none. After 20 misses nothing is looked for any
   * more.
   */
  next(needle: string): number | undefined {
    if (this.#misses >= 20) return undefined;
    const at = this.#text.indexOf(needle, this.#at);
    if (at === -1) {
      this.#misses += 1;
      return undefined;
    }
    this.#at = at + needle.length;
    for (let feed = this.#text.indexOf('\n', this.#counted); feed !== -1 && feed < at; ) {
      this.#line += 1;
      this.#counted = feed + 1;
      feed = this.#text.indexOf('\n', this.#counted);
    }
    return this.#line;
  }
}
