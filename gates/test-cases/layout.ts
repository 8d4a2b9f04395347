import type { Language } from '../../readers/source/language.ts';
import type { Outline } from './outline.ts';

/** Blocks of code (`code-text.ts`) in a language where indentation, or words, bound them. */
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

/** How the statements and blocks of a text are told. */
export type Shape = Outline | Layout;

export function isOutline(shape: Shape): shape is Outline {
  return 'brackets' in shape;
}

/** Languages whose blocks no braces bound. */
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
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  function firstFrom(offset: number): number {
    let low = 0;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((blocks[middle]?.open ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
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
