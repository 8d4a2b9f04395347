/* Finds statements and blocks in a source, by braces or by indentation. */
import { firstIndex } from '../../readers/source/first-index.ts';
import type { Language } from '../../readers/source/language.ts';

/** A pair of brackets in code. The lines that are indented more than the line above them count as braces, too. */
export interface Bracket {
  readonly mark: string;
  readonly open: number;
  /** The length of the text where it is never closed. */
  close: number;
  /** Number of the bracket around it; -1 at the top. */
  readonly parent: number;
  /** Start of the enclosing statement or argument. */
  readonly start: number;
  /** Numbers of the last braces in it, and of the last that are the body of a function. */
  last?: number;
  body?: number;
}

/** The statements and blocks of code (`test-text.ts`). */
export interface Shape {
  readonly brackets: readonly Bracket[];
  /** Number of the innermost bracket around an offset; -1 at the top. */
  around(offset: number): number;
  /** The text of a statement before a bracket: its last 300 characters. */
  header(bracket: Bracket): string;
  /** Where the statement or argument at an offset begins and ends. */
  startOf(offset: number): number;
  endOf(offset: number): number;
}

/** Languages in which indentation shows the blocks. */
export const byIndentation: ReadonlySet<Language> = new Set(['python', 'ruby', 'elixir', 'shell']);

export function shapeOf(code: string, language: Language): Shape {
  return byIndentation.has(language) ? shapeOfLines(code) : shapeOfBraces(code);
}

/** Brackets as they open and close. `inner` finds the innermost one by the offsets at which it changes. */
function nesting(code: string) {
  const brackets: Bracket[] = [];
  const changes: number[] = [];
  const numbers: number[] = [];
  const change = (offset: number, number: number): void => {
    changes.push(offset);
    numbers.push(number);
  };
  return {
    brackets,
    open(mark: string, open: number, parent: number, start: number): number {
      const number = brackets.push({ mark, open, close: code.length, parent, start }) - 1;
      change(open + 1, number);
      return number;
    },
    close(number: number, at: number): void {
      const bracket = brackets[number];
      if (bracket) bracket.close = at;
      change(at + 1, bracket?.parent ?? -1);
    },
    around: (offset: number): number => numbers[upTo(changes, offset)] ?? -1,
    header: ({ start, open }: Bracket): string => code.slice(Math.max(start, open - 300), open),
  };
}

/** Index of the last of sorted offsets that is not greater. */
function upTo(offsets: readonly number[], offset: number): number {
  return firstIndex(offsets.length, (at) => (offsets[at] ?? 0) <= offset) - 1;
}

function shapeOfLines(code: string): Shape {
  const { brackets, open, close, around, header } = nesting(code);
  const lines: { readonly start: number; readonly end: number; readonly indent: number; block: number }[] =
    [];
  const starts: number[] = [];
  const stack: number[] = [];
  for (let from = 0; from < code.length; ) {
    const feed = code.indexOf('\n', from);
    const end = feed === -1 ? code.length : feed;
    let indent = 0;
    while (code[from + indent] === ' ' || code[from + indent] === '\t') indent += 1;
    const start = from + indent;
    // A bracket that closes belongs to what it closes.
    if (start < end && !/[\s)\]}]/.test(code[start] ?? '')) {
      for (
        let top = lines[stack.at(-1) ?? -1];
        top && top.indent >= indent;
        top = lines[stack.at(-1) ?? -1]
      ) {
        if (top.block >= 0) close(top.block, from - 1);
        stack.pop();
      }
      const above = lines[stack.at(-1) ?? -1];
      if (above?.block === -1)
        above.block = open('{', above.end, lines[stack.at(-2) ?? -1]?.block ?? -1, above.start);
      starts.push(from);
      stack.push(lines.push({ start, end, indent, block: -1 }) - 1);
    }
    from = end + 1;
  }
  const lineOf = (offset: number) => lines[Math.max(0, upTo(starts, offset))];
  return {
    brackets,
    around,
    header,
    startOf: (offset) => lineOf(offset)?.start ?? 0,
    endOf(offset) {
      const line = lineOf(offset);
      let end = brackets[line?.block ?? -1]?.close ?? line?.end ?? code.length;
      // A case of Ruby or Elixir ends behind its handlers.
      for (
        let next = lineOf(end + 1);
        next && next.start > end && next.indent === line?.indent;
        next = lineOf(end + 1)
      ) {
        if (!/^(?:rescue|ensure|after|end)\b/.test(code.slice(next.start, next.start + 8))) break;
        end = brackets[next.block]?.close ?? next.end;
      }
      return end;
    },
  };
}

/** Before a brace of values. */
const literal =
  /(?:[=(,:[?&|}]|\breturn)\s*$|\]\w*$|(?<!\b(?:else|try|do|finally|unsafe|loop|async|get|set))(?<=\w)$/;
const ofFunction = /(?:=>|\)(?:\s*:[^={}]{0,80})?|\bfunc\b.{0,80})\s*$/;

function shapeOfBraces(code: string): Shape {
  const { brackets, open, close, around, header } = nesting(code);
  /** By bracket (0 is the top): where statements begin. */
  const bounds: number[][] = [[0]];
  const stack: number[] = [];
  const isLiteral = new Set<number>();
  for (const { 0: mark, index: at } of code.matchAll(/[()[\]{};,\n]/g)) {
    const current = stack.at(-1) ?? -1;
    const isInBraces = current === -1 || brackets[current]?.mark === '{';
    const own = bounds[current + 1] ?? [];
    if ('([{'.includes(mark)) {
      const number = open(mark, at, current, own.at(-1) ?? 0);
      const [bracket, parent] = [brackets[number], brackets[current]];
      stack.push(number);
      bounds.push([at + 1]);
      if (mark !== '{' || !bracket) continue;
      if (literal.test(code.slice(Math.max(0, at - 12), at))) isLiteral.add(number);
      if (!parent) continue;
      parent.last = number;
      if (parent.mark !== '{' || isLiteral.has(current))
        if (ofFunction.test(header(bracket))) parent.body = number;
    } else if (')]}'.includes(mark)) {
      const closed = stack.pop();
      if (closed === undefined) continue;
      close(closed, at);
      const outer = stack.at(-1) ?? -1;
      // `}{`, `}.a`: the statement goes on.
      const isEnd = mark === '}' && !/^(?:[{(.[,)?]| \{)/.test(code.slice(at + 1, at + 3));
      if (isEnd && (outer === -1 || brackets[outer]?.mark === '{')) bounds[outer + 1]?.push(at + 1);
    } else if (mark === ';' || (mark === ',' && (!isInBraces || isLiteral.has(current)))) own.push(at + 1);
    else if (mark === '\n' && isInBraces && endsStatement(code, own.at(-1) ?? 0, at)) own.push(at + 1);
  }
  return {
    brackets,
    around,
    header,
    startOf(offset) {
      const own = bounds[around(offset) + 1] ?? [];
      return own[upTo(own, offset)] ?? 0;
    },
    endOf(offset) {
      const number = around(offset);
      const own = bounds[number + 1] ?? [];
      return own[upTo(own, offset) + 1] ?? brackets[number]?.close ?? code.length;
    },
  };
}

/** Whether a statement ends at a line end: the line is complete, and the next line does not continue it. */
function endsStatement(code: string, start: number, at: number): boolean {
  const before = code.slice(Math.max(start, at - 40), at).trimEnd();
  if (before === '' || /\breturn$/.test(before)) return true;
  if (/(?:[=&|?:,+\-*<(.^~]|=>|->|\b(?:else|do|try|finally|and|or|not|in|of))$/.test(before)) return false;
  const isHead = /^\s*(?:\}?\s*else\s+)?(?:if|while|for|foreach|switch|catch)\b/;
  if (/\)$/.test(before) && isHead.test(code.slice(start, start + 80))) return false;
  return !/^\s*(?:[.?&|:=+]|catch\b|else\b|finally\b|\{)/.test(code.slice(at, at + 200));
}

/** The bracket that opens at an offset. */
export function bracketAt({ brackets }: Shape, open: number): Bracket | undefined {
  const found = brackets[firstIndex(brackets.length, (at) => (brackets[at]?.open ?? 0) < open)];
  return found?.open === open ? found : undefined;
}

/** A part of a text: from an offset up to, and without, another. */
export type Span = readonly [from: number, to: number];

/** Spans in order, those that overlap joined. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: [from: number, to: number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else if (to > from) all.push([from, to]);
  }
  return all;
}

/** Finds out in O(log n) whether an offset is in one of n spans. */
export function coverOf(spans: readonly Span[]): (offset: number) => boolean {
  const all = joined(spans);
  return (offset) => {
    const low = firstIndex(all.length, (at) => (all[at]?.[0] ?? 0) <= offset);
    return offset < (all[low - 1]?.[1] ?? 0);
  };
}

/** The code with blanks in place of spans. */
export function blanked(code: string, spans: readonly Span[]): string {
  let at = 0;
  const parts = joined(spans).flatMap(([from, to]) => {
    const before = code.slice(at, from);
    at = to;
    return [before, ' '.repeat(to - from)];
  });
  return parts.join('') + code.slice(at);
}
