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

/** Lines of the YAML keys that are indented by at most two spaces, from 1; the first of equal ones. */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [at, line] of text.split('\n').entries()) {
    const key = /^ {0,2}(?:"([^"]+)"|'([^']+)'|([^\s"'#][^\s#]*)):(?:\s|$)/.exec(line);
    const name = key?.[1] ?? key?.[2] ?? key?.[3];
    if (name !== undefined && !lines.has(name)) lines.set(name, at + 1);
  }
  return lines;
}
