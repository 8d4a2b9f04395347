import { EnvelopeFault, type EnvelopeHunk } from './read-envelope.ts';

/** Lines that are compared for one file at most: where all look alike, a search has no end. */
const maxComparisons = 20_000_000;

/**
 * A file's text with its hunks applied in order, each found below the one before it: exactly, else but for blanks at
 * the ends of lines. EnvelopeFault for a hunk that stands nowhere, or in several places.
 */
export function applyHunks(text: string, hunks: readonly EnvelopeHunk[]): string {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const file = new IndexedLines(text.split(/\r?\n/));
  const made: string[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = file.find(hunk, from, index + 1);
    for (const line of file.lines.slice(from, at)) made.push(line);
    for (const line of hunk.to) made.push(line);
    from = at + hunk.from.length;
  }
  for (const line of file.lines.slice(from)) made.push(line);
  return made.join(ending);
}

/** Lines, and where each stands. */
class IndexedLines {
  readonly lines: readonly string[];
  /** By the line without blanks at its ends. */
  readonly #places = new Map<string, number[]>();
  #comparisons = 0;

  constructor(lines: readonly string[]) {
    this.lines = lines;
    for (const [at, line] of lines.entries()) {
      const places = this.#places.get(line.trim());
      if (places) places.push(at);
      else this.#places.set(line.trim(), [at]);
    }
  }

  /** Where a hunk stands, not above `from`. */
  find(hunk: EnvelopeHunk, from: number, number: number): number {
    let start = from;
    if (hunk.after !== undefined) {
      const [at] = this.#from(hunk.after, from);
      if (at === undefined)
        throw new EnvelopeFault(`hunk ${number}: the line after \`@@\` is not in the file`);
      start = at + 1;
    }
    // A hunk that only adds stands where its anchor says, else at the end.
    if (hunk.from.length === 0) return hunk.after === undefined ? this.#end() : start;
    const alike = this.#placesOf(hunk, start);
    const exact = alike.filter((at) => hunk.from.every((line, index) => this.lines[at + index] === line));
    const places = exact.length > 0 ? exact : alike;
    const [first] = places;
    if (first === undefined)
      throw new EnvelopeFault(
        `hunk ${number}: its lines are not in the file as they are given; read it again`,
      );
    if (places.length > 1 && hunk.after === undefined && !hunk.atEnd)
      throw new EnvelopeFault(
        `hunk ${number}: its lines stand in several places; give more context, or a line above them after \`@@\``,
      );
    return hunk.atEnd ? (places.at(-1) ?? first) : first;
  }

  /** Every place from `start` on at which the lines of a hunk stand, but for blanks at their ends. */
  #placesOf({ from: wanted, atEnd }: EnvelopeHunk, start: number): readonly number[] {
    const trimmed = wanted.map((line) => line.trimEnd());
    return this.#from(wanted[0] ?? '', start).filter((at) => {
      if (at + wanted.length > this.lines.length) return false;
      if (atEnd && at + wanted.length < this.#end()) return false;
      return trimmed.every((line, index) => {
        this.#comparisons += 1;
        if (this.#comparisons > maxComparisons)
          throw new EnvelopeFault('the file is too large and too uniform to be patched; write it anew');
        return this.lines[at + index]?.trimEnd() === line;
      });
    });
  }

  #from(line: string, start: number): readonly number[] {
    const places = this.#places.get(line.trim()) ?? [];
    let low = 0;
    for (let high = places.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? places : places.slice(low);
  }

  /** Behind the last line; a line end at the end of a file begins no line. */
  #end(): number {
    return this.lines.at(-1) === '' ? this.lines.length - 1 : this.lines.length;
  }
}
