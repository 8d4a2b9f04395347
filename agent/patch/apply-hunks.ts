/* The patch envelope of a model: its hunks, and their application to files. */
/** Lines to find in a file, and their replacement. */
interface EnvelopeHunk {
  /** A line above the hunk, to distinguish similar places. */
  readonly after?: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** For each line of `to`, the line of `from` that it leaves as it is; -1 for a new line. */
  readonly kept: readonly number[];
  readonly atEnd: boolean;
}

/** One section of a patch in the envelope form. */
export type EnvelopeSection =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly EnvelopeHunk[];
    };

/** What is wrong with a patch, for the model that wrote it. */
export class EnvelopeFault extends Error {}

const header = /^\*\*\* (Add|Delete|Update) File: (.+)$/;

/**
 * Reads a patch in the envelope form: `*** Begin Patch`, sections `*** Add File: P`, `*** Delete File: P`,
 * `*** Update File: P` with an optional `*** Move to: P` and hunks that begin with `@@`, `*** End Patch`. EnvelopeFault
 * names the line.
 */
export function readEnvelope(text: string): readonly EnvelopeSection[] {
  const lines = text.replace(/\r\n/g, '\n').trim().split('\n');
  if (lines[0]?.trim() !== '*** Begin Patch')
    throw new EnvelopeFault('it has to begin with `*** Begin Patch`');
  if (lines.at(-1)?.trim() !== '*** End Patch') throw new EnvelopeFault('it has to end with `*** End Patch`');
  const sections: EnvelopeSection[] = [];
  const end = lines.length - 1;
  for (let at = 1; at < end; ) {
    const [, verb, name = ''] = header.exec(lines[at] ?? '') ?? [];
    if (verb === undefined)
      throw new EnvelopeFault(`line ${at + 1}: expected \`*** Add|Delete|Update File: PATH\``);
    const path = name.trim();
    at += 1;
    const body: string[] = [];
    while (at < end && !header.test(lines[at] ?? '')) {
      body.push(lines[at] ?? '');
      at += 1;
    }
    const first = at - body.length + 1;
    if (verb === 'Delete') {
      if (body.some((line) => line.trim() !== ''))
        throw new EnvelopeFault(`line ${first}: nothing follows a deletion`);
      sections.push({ kind: 'delete', path });
    } else if (verb === 'Add') sections.push({ kind: 'add', path, lines: readAdded(body, first) });
    else sections.push(readUpdate(path, body, first));
  }
  if (sections.length === 0) throw new EnvelopeFault('it changes nothing');
  return sections;
}

function readAdded(body: readonly string[], first: number): readonly string[] {
  return body.map((line, index) => {
    if (!line.startsWith('+'))
      throw new EnvelopeFault(`line ${first + index}: a line of a new file begins with \`+\``);
    return line.slice(1);
  });
}

function readUpdate(path: string, body: readonly string[], first: number): EnvelopeSection {
  const moved = /^\*\*\* Move to: (.+)$/.exec(body[0] ?? '')?.[1]?.trim();
  const hunks: { after?: string; from: string[]; to: string[]; kept: number[]; atEnd: boolean }[] = [];
  for (let index = moved === undefined ? 0 : 1; index < body.length; index += 1) {
    const line = body[index] ?? '';
    const sign = line[0] ?? ' ';
    const current = hunks.at(-1);
    if (line.startsWith('@@')) {
      const after = line.slice(2).trim();
      hunks.push({ ...(after === '' ? {} : { after }), from: [], to: [], kept: [], atEnd: false });
    } else if (line === '*** End of File' && current) current.atEnd = true;
    else {
      const hunk = current ?? { from: [], to: [], kept: [], atEnd: false };
      if (!current) hunks.push(hunk);
      if (sign !== '+' && sign !== '-' && sign !== ' ')
        throw new EnvelopeFault(`line ${first + index}: a line of a hunk begins with \` \`, \`-\` or \`+\``);
      if (sign !== '+') hunk.from.push(line.slice(1));
      if (sign === '-') continue;
      hunk.to.push(line.slice(1));
      hunk.kept.push(sign === ' ' ? hunk.from.length - 1 : -1);
    }
  }
  const changing = hunks.filter(({ from, to }) => from.length > 0 || to.length > 0);
  if (changing.length === 0 && moved === undefined)
    throw new EnvelopeFault(`line ${first - 1}: the section changes nothing`);
  return { kind: 'update', path, ...(moved === undefined ? {} : { moveTo: moved }), hunks: changing };
}

/** Lines that are compared for one file at most: where all look alike, a search has no end. */
const maxComparisons = 20_000_000;

const bom = '\ufeff';

/** A line of a file, and its line end: `\r\n`, `\n`, or empty at the end of the file. */
interface FileLine {
  readonly text: string;
  readonly end: string;
}

/**
 * Applies hunks to a file's text in order, each below the previous one. A hunk must match exactly, or else except for
 * blanks at line ends. Lines that a hunk keeps are unchanged in the file, with their blanks and line ends. A new line
 * gets the line end of the line that it replaces, else of the line above. A byte order mark is not part of the first
 * line. EnvelopeFault if a hunk matches at no place or at several places.
 */
export function applyHunks(text: string, hunks: readonly EnvelopeHunk[]): string {
  const mark = text.startsWith(bom) ? bom : '';
  const lines = splitLines(text.slice(mark.length));
  const usual = usualEnd(lines);
  const file = new IndexedLines(lines.map((line) => line.text));
  const made: FileLine[] = [];
  let from = 0;
  for (const [index, given] of hunks.entries()) {
    const hunk = mark === '' ? given : withoutMark(given);
    const at = file.find(hunk, from, index + 1);
    for (const line of lines.slice(from, at)) made.push(line);
    let next = 0;
    for (const [place, line] of hunk.to.entries()) {
      const kept = hunk.kept[place] ?? -1;
      const stays = kept < 0 ? undefined : lines[at + kept];
      if (stays !== undefined) {
        made.push(stays);
        next = kept + 1;
        continue;
      }
      // Of the lines that go between two that stay, each new one replaces the next.
      const replaced = next < nextKept(hunk, place) ? lines[at + next] : undefined;
      if (replaced !== undefined) next += 1;
      made.push({ text: line, end: replaced?.end || made.at(-1)?.end || usual });
    }
    from = at + hunk.from.length;
  }
  for (const line of lines.slice(from)) made.push(line);
  const last = made.length - 1;
  return mark + made.map(({ text, end }, at) => (at === last ? text : text + (end || usual))).join('');
}

/** The place in `from` of the next line that stays, behind a new one. */
function nextKept({ from, kept }: EnvelopeHunk, place: number): number {
  for (let at = place + 1; at < kept.length; at += 1) {
    const one = kept[at] ?? -1;
    if (one >= 0) return one;
  }
  return from.length;
}

/** A model may write the mark that it was shown. */
function withoutMark({ from, to, ...hunk }: EnvelopeHunk): EnvelopeHunk {
  const plain = (lines: readonly string[]): readonly string[] =>
    lines.map((line, at) => (at === 0 && line.startsWith(bom) ? line.slice(bom.length) : line));
  return { ...hunk, from: plain(from), to: plain(to) };
}

function splitLines(text: string): readonly FileLine[] {
  const parts = text.split('\n');
  return parts.map((part, at): FileLine => {
    if (at === parts.length - 1) return { text: part, end: '' };
    return part.endsWith('\r') ? { text: part.slice(0, -1), end: '\r\n' } : { text: part, end: '\n' };
  });
}

/** Returns the most frequent line end, for a new line after a last line without one. */
function usualEnd(lines: readonly FileLine[]): string {
  const carriage = lines.filter(({ end }) => end === '\r\n').length;
  return carriage * 2 > lines.length - 1 ? '\r\n' : '\n';
}

/** Lines with an index of their positions. */
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

  /** Returns the position of a hunk, at or below line `from`. */
  find(hunk: EnvelopeHunk, from: number, number: number): number {
    let start = from;
    if (hunk.after !== undefined) {
      const [at] = this.#from(hunk.after, from);
      if (at === undefined)
        throw new EnvelopeFault(`hunk ${number}: the line after \`@@\` is not in the file`);
      start = at + 1;
    }
    // A hunk that only adds goes to its anchor, else to the end.
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
        `hunk ${number}: its lines occur in several places; give more context, or a line above them after \`@@\``,
      );
    return hunk.atEnd ? (places.at(-1) ?? first) : first;
  }

  /** Returns every position from `start` on at which the lines of a hunk match, except for blanks at their ends. */
  #placesOf({ from: wanted, atEnd }: EnvelopeHunk, start: number): readonly number[] {
    const trimmed = wanted.map((line) => line.trimEnd());
    return this.#from(wanted[0] ?? '', start).filter((at) => {
      if (at + wanted.length > this.lines.length) return false;
      if (atEnd && at + wanted.length < this.#end()) return false;
      return trimmed.every((line, index) => {
        this.#comparisons += 1;
        if (this.#comparisons > maxComparisons)
          throw new EnvelopeFault(
            'the file is too large and too uniform to be patched; write the whole file',
          );
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
