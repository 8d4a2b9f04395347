/** Finds texts in the order in which they occur, and their lines (from 1). All calls together read the text once. */
export class LineFinder {
  readonly #text: string;
  #at = 0;
  #line = 1;
  /** The line feed that ends this line; the length of the text in the last one. */
  #lineEnd: number;
  #misses = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#feedFrom(0);
  }

  /**
   * The line of the next occurrence behind the last one found; `undefined` if there is none. After 20 misses, nothing
   * is searched for any more.
   */
  next(needle: string): number | undefined {
    if (this.#misses >= 20) return undefined;
    const at = this.#text.indexOf(needle, this.#at);
    if (at === -1) {
      this.#misses += 1;
      return undefined;
    }
    this.#at = at + needle.length;
    for (; this.#lineEnd < at; this.#lineEnd = this.#feedFrom(this.#lineEnd + 1)) this.#line += 1;
    return this.#line;
  }

  #feedFrom(at: number): number {
    const feed = this.#text.indexOf('\n', at);
    return feed === -1 ? this.#text.length : feed;
  }
}
