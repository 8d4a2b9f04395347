/* Finds statements and blocks in a source, by braces, indentation or words. */
import { firstIndex } from '../../readers/source/first-index.ts';
import type { Language } from '../../readers/source/language.ts';

/** Blocks of code (`test-text.ts`) in a language where indentation, or words, bound them. */
export interface Layout {
  /** Beginnings of the lines above that are indented less and less, the nearest first; at most 60. */
  above(offset: number): readonly number[];
  /** Where the lines end that are indented more than that of an offset. */
  blockEnd(offset: number): number;
  /** Where the lines end that are indented as much as that of an offset, or more. */
  restEnd(offset: number): number;
  /** Where what begins at an offset ends: a line, or the block that it opens. */
  endOf(offset: number): number;
}

/** The statements and blocks of a text. */
export type Shape = Outline | Layout;

export function isOutline(shape: Shape): shape is Outline {
  return 'brackets' in shape;
}

/** Languages without braces around blocks. */
export const withoutBraces: ReadonlySet<Language> = new Set(['python', 'ruby', 'elixir', 'shell']);

const maxDepth = 60;
const words: Readonly<Partial<Record<Language, RegExp>>> = {
  ruby: /\bend\b|(?:^|[;=(]|\b(?:then|do|else|private|protected|public))[ \t]*\b(?:if|unless|while|until|case|def|class|module|begin|for)\b|\bdo\b(?=[ \t]*(?:\||;|$))/gm,
  elixir: /\bend\b|\bdo\b(?!:)|\bfn\b/gm,
  shell: /(?:^|[;&|]|\b(?:then|do|else))[ \t]*(?:if|case|while|until|for)\b|\b(?:fi|esac|done)\b/gm,
};
const closing = /^(?:end|fi|esac|done)$/;

/** Reads lines, their indentation and the words that open and close blocks, in two passes. */
export function layoutOf(code: string, language: Language): Layout {
  const starts: number[] = [];
  const indents: number[] = [];
  const outer: number[] = [];
  /** By line: the first below that is indented no more, and that is indented less. */
  const next: number[] = [];
  const less: number[] = [];
  const open: number[] = [];
  for (let start = 0; start < code.length; ) {
    const feed = code.indexOf('\n', start);
    const end = feed === -1 ? code.length : feed;
    const indent = indentOf(code, start);
    const first = code[start + indent] ?? '';
    // A bracket that closes belongs to what it closes.
    if (start + indent < end && !')]}'.includes(first) && /\S/.test(first)) {
      const line = starts.length;
      while (open.length > 0 && (indents[open.at(-1) ?? 0] ?? 0) >= indent) open.pop();
      outer.push(open.at(-1) ?? -1);
      open.push(line);
      starts.push(start);
      indents.push(indent);
    }
    start = end + 1;
  }
  for (let line = starts.length - 1; line >= 0; line -= 1) {
    next[line] = follow(line + 1, (other) => (indents[other] ?? 0) <= (indents[line] ?? 0));
    const after = next[line] ?? starts.length;
    less[line] = (indents[after] ?? -1) < (indents[line] ?? 0) ? after : (less[after] ?? starts.length);
  }
  const blocks = wordBlocks(code, language);
  const endAt = (line: number | undefined): number => Math.max(0, (starts[line ?? 0] ?? code.length + 1) - 1);
  const blockEnd = (offset: number): number => endAt(next[lineOf(offset)]);
  return {
    above(offset) {
      const found: number[] = [];
      for (let at = outer[lineOf(offset)] ?? -1; at >= 0 && found.length < maxDepth; at = outer[at] ?? -1)
        found.push(starts[at] ?? 0);
      return found;
    },
    blockEnd,
    restEnd: (offset) => endAt(less[lineOf(offset)]),
    endOf(offset) {
      const feed = code.indexOf('\n', offset);
      const end = feed === -1 ? code.length : feed;
      if (language === 'python')
        return code.slice(offset, end).trimEnd().endsWith(':') ? blockEnd(offset) : end;
      const block = blocks[firstFrom(offset)];
      return block && block.open <= end ? block.end : Math.max(end, blockEnd(offset));
    },
  };

  /** The nearest line from `line` on for which it holds, over those that are known already. */
  function follow(line: number, holds: (line: number) => boolean): number {
    let at = line;
    while (at < starts.length && !holds(at)) at = next[at] ?? starts.length;
    return at;
  }

  function lineOf(offset: number): number {
    return Math.max(0, firstIndex(starts.length, (at) => (starts[at] ?? 0) <= offset) - 1);
  }

  function firstFrom(offset: number): number {
    return firstIndex(blocks.length, (at) => (blocks[at]?.open ?? 0) < offset);
  }
}

/** Blocks that words open, in order, and where the words that close them end. */
function wordBlocks(
  code: string,
  language: Language,
): readonly { readonly open: number; readonly end: number }[] {
  const form = words[language];
  if (!form) return [];
  const found: { open: number; end: number }[] = [];
  const stack: { open: number; end: number }[] = [];
  for (const { index, 0: said } of code.matchAll(form)) {
    if (closing.test(said)) {
      const closed = stack.pop();
      if (closed) closed.end = index + said.length;
      continue;
    }
    const block = { open: index + said.search(/\w/), end: code.length };
    found.push(block);
    stack.push(block);
  }
  return found;
}

/** Width of the blanks with which the line at `start` begins. */
export function indentOf(code: string, start: number): number {
  let at = start;
  while (at < start + 200 && (code[at] === ' ' || code[at] === '\t')) at += 1;
  return at - start;
}

/** A pair of brackets in code. */
export interface Bracket {
  readonly mark: string;
  readonly open: number;
  /** The length of the text where it is never closed. */
  close: number;
  /** Number of the bracket around it; -1 at the top. */
  readonly parent: number;
  /** Start of the enclosing statement or argument. */
  readonly start: number;
}

/** Brackets and statements of code (`test-text.ts`) in a language with braces. */
export interface Outline {
  readonly brackets: readonly Bracket[];
  /** Number of the innermost bracket around an offset; -1 at the top. */
  around(offset: number): number;
  /** The text of a statement before a bracket: its last 300 characters. */
  header(bracket: Bracket): string;
  /** Start of the statement or argument at an offset. */
  startOf(offset: number): number;
  /** Where it ends. */
  endOf(offset: number): number;
}

const maxHeader = 300;
/** Before a brace of values. */
const literal =
  /(?:[=(,:[?&|}]|\breturn)\s*$|\]\w*$|(?<!\b(?:else|try|do|finally|unsafe|loop|async|get|set))(?<=\w)$/;
const opens = '([{';
const closes = ')]}';

/** Reads brackets and the bounds of statements in one pass. */
export function outlineOf(code: string): Outline {
  const brackets: Bracket[] = [];
  /** Offsets at which the innermost bracket changes, and what it is then. */
  const events: number[] = [];
  const inner: number[] = [];
  /** By bracket (0 is the top): where statements begin. */
  const bounds: number[][] = [[0]];
  const stack: number[] = [];
  const isLiteral = new Set<number>();
  const boundsOf = (bracket: number): number[] => bounds[bracket + 1] ?? [];
  const begin = (offset: number): void => {
    boundsOf(stack.at(-1) ?? -1).push(offset);
  };
  const form = /[()[\]{};,\n]/g;
  for (let match = form.exec(code); match !== null; match = form.exec(code)) {
    const [mark] = match;
    const at = match.index;
    const current = stack.at(-1) ?? -1;
    const isInBraces = current === -1 || brackets[current]?.mark === '{';
    if (opens.includes(mark)) {
      const start = boundsOf(current).at(-1) ?? 0;
      brackets.push({ mark, open: at, close: code.length, parent: current, start });
      stack.push(brackets.length - 1);
      if (mark === '{' && literal.test(code.slice(Math.max(0, at - 12), at)))
        isLiteral.add(brackets.length - 1);
      bounds.push([at + 1]);
      events.push(at + 1);
      inner.push(brackets.length - 1);
    } else if (closes.includes(mark)) {
      const closed = stack.pop();
      if (closed === undefined) continue;
      const bracket = brackets[closed];
      if (bracket) bracket.close = at;
      events.push(at + 1);
      inner.push(stack.at(-1) ?? -1);
      const outer = stack.at(-1) ?? -1;
      // `}{`, `}.a`: the statement goes on.
      const isEnd = mark === '}' && !/^(?:[{(.[,)?]| \{)/.test(code.slice(at + 1, at + 3));
      if (isEnd && (outer === -1 || brackets[outer]?.mark === '{')) begin(at + 1);
    } else if (mark === ';' || (mark === ',' && (!isInBraces || isLiteral.has(current)))) begin(at + 1);
    else if (mark === '\n' && isInBraces && endsStatement(code, boundsOf(current).at(-1) ?? 0, at))
      begin(at + 1);
  }
  const around = (offset: number): number => {
    const index = firstAbove(events, offset) - 1;
    return index < 0 ? -1 : (inner[index] ?? -1);
  };
  return {
    brackets,
    around,
    header: ({ start, open }) => code.slice(Math.max(start, open - maxHeader), open),
    startOf(offset) {
      const own = boundsOf(around(offset));
      return own[firstAbove(own, offset) - 1] ?? 0;
    },
    endOf(offset) {
      const bracket = around(offset);
      const own = boundsOf(bracket);
      return own[firstAbove(own, offset)] ?? brackets[bracket]?.close ?? code.length;
    },
  };
}

/** Whether a statement ends at a line end: the line is complete, and the next line does not continue it. */
function endsStatement(code: string, start: number, at: number): boolean {
  const before = code.slice(Math.max(start, at - 40), at).trimEnd();
  if (before === '') return true;
  if (/(?:[=&|?:,+\-*<(.^~]|=>|->|\b(?:else|do|try|finally|and|or|not|in|of|return))$/.test(before))
    return /\breturn$/.test(before);
  if (
    /\)$/.test(before) &&
    /^\s*(?:\}?\s*else\s+)?(?:if|while|for|foreach|switch|catch)\b/.test(code.slice(start, start + 80))
  )
    return false;
  return !/^\s*(?:[.?&|:=+]|catch\b|else\b|finally\b|\{)/.test(code.slice(at, at + 200));
}

/** Number of the first of sorted offsets that is greater. */
function firstAbove(offsets: readonly number[], offset: number): number {
  return firstIndex(offsets.length, (at) => (offsets[at] ?? 0) <= offset);
}

/** The bracket that opens at an offset. */
export function bracketAt({ brackets }: Outline, open: number): Bracket | undefined {
  const low = firstIndex(brackets.length, (at) => (brackets[at]?.open ?? 0) < open);
  return brackets[low]?.open === open ? brackets[low] : undefined;
}

/** A part of a text: from an offset up to, and without, another. */
export type Span = readonly [from: number, to: number];

/** Whether an offset is in one of the spans. A lookup costs O(log n) for n spans. */
type Cover = (offset: number) => boolean;

/** Joins spans, in any order, overlapping or not. */
export function coverOf(spans: readonly Span[]): Cover {
  const joined: { from: number; to: number }[] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) joined.push({ from, to });
  }
  return (offset) => {
    const low = firstIndex(joined.length, (at) => (joined[at]?.from ?? 0) <= offset);
    return low > 0 && offset < (joined[low - 1]?.to ?? 0);
  };
}
