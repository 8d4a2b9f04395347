import type { Token } from '../source/lex.ts';

/** How far an argument list is followed; keeps nested calls linear. */
const maxSpan = 600;

/** Tokens with the questions that matchers ask. Indexes outside the list answer an empty token. */
export interface TokenView {
  readonly tokens: readonly Token[];
  at(index: number): Token;
  text(index: number): string;
  /** True for a word token of that text. */
  isWord(index: number, ...words: readonly string[]): boolean;
  isPunct(index: number, ...marks: readonly string[]): boolean;
  /** Index of the bracket that closes the one at `open`; where it is too far or missing, the last index looked at. */
  closeOf(open: number): number;
  /** First token index of each top-level argument between the brackets; empty for `()`. */
  args(open: number): readonly number[];
  /** Index after `index` that is no line break. */
  next(index: number): number;
  previous(index: number): number;
}

const nothing: Token = { kind: 'newline', text: '', start: 0, end: 0 };

/** Wraps a token list. */
export function viewTokens(tokens: readonly Token[]): TokenView {
  const at = (index: number): Token => tokens[index] ?? nothing;
  const isPunct = (index: number, ...marks: readonly string[]): boolean =>
    at(index).kind === 'punct' && marks.includes(at(index).text);
  const closeOf = (open: number): number => {
    let depth = 0;
    const limit = Math.min(tokens.length, open + maxSpan);
    for (let index = open; index < limit; index += 1) {
      if (isPunct(index, '(', '[', '{')) depth += 1;
      else if (isPunct(index, ')', ']', '}')) {
        depth -= 1;
        if (depth === 0) return index;
      }
    }
    return limit - 1;
  };
  return {
    tokens,
    at,
    text: (index) => at(index).text,
    isWord: (index, ...words) => at(index).kind === 'word' && words.includes(at(index).text),
    isPunct,
    closeOf,
    args(open) {
      const close = closeOf(open);
      const starts: number[] = [];
      let depth = 0;
      let expects = true;
      for (let index = open + 1; index < close; index += 1) {
        if (at(index).kind === 'newline') continue;
        if (expects) {
          starts.push(index);
          expects = false;
        }
        if (isPunct(index, '(', '[', '{')) depth += 1;
        else if (isPunct(index, ')', ']', '}')) depth -= 1;
        else if (depth === 0 && isPunct(index, ',')) expects = true;
      }
      return starts;
    },
    next(index) {
      let found = index + 1;
      while (at(found).kind === 'newline' && found < tokens.length) found += 1;
      return found;
    },
    previous(index) {
      let found = index - 1;
      while (at(found).kind === 'newline' && found >= 0) found -= 1;
      return found;
    },
  };
}
