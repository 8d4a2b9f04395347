/** A pair of brackets in code. */
export interface Bracket {
  readonly mark: string;
  readonly open: number;
  /** The length of the text where it is never closed. */
  close: number;
  /** Number of the bracket around it; -1 at the top. */
  readonly parent: number;
  /** Where the statement or the argument begins in which it stands. */
  readonly start: number;
}

/** Brackets and statements of code (`code-text.ts`) in a language with braces. */
export interface Outline {
  readonly brackets: readonly Bracket[];
  /** Number of the innermost bracket around an offset; -1 at the top. */
  around(offset: number): number;
  /** What stands in a statement before a bracket: its last 300 characters. */
  header(bracket: Bracket): string;
  /** Where the statement or argument begins in which an offset stands. */
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

/** Whether a line's end is a statement's: it asks for nothing more, and the next line does not go on with it. */
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
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The bracket that opens at an offset. */
export function bracketAt({ brackets }: Outline, open: number): Bracket | undefined {
  let low = 0;
  let high = brackets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((brackets[middle]?.open ?? 0) < open) low = middle + 1;
    else high = middle;
  }
  return brackets[low]?.open === open ? brackets[low] : undefined;
}
