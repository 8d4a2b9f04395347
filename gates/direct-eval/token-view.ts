import type { Token } from '../../readers/source/tokens/lex.ts';

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
  /** Index of the innermost bracket that is open at `index`; -1 where none is. */
  openerOf(index: number): number;
  /** First token index of each top-level argument between the brackets; empty for `()`. */
  args(open: number): readonly number[];
  /** Index after `index` that is no line break. */
  next(index: number): number;
  previous(index: number): number;
}

const nothing: Token = { kind: 'newline', text: '', start: 0, end: 0, dynamic: false };

/** Wraps a token list. */
export function viewTokens(tokens: readonly Token[]): TokenView {
  const at = (index: number): Token => tokens[index] ?? nothing;
  const isPunct = (index: number, ...marks: readonly string[]): boolean =>
    at(index).kind === 'punct' && marks.includes(at(index).text);
  const { closers, openers } = matchBrackets(tokens);
  const limitOf = (open: number): number => Math.min(tokens.length, open + maxSpan) - 1;
  const closeOf = (open: number): number => Math.min(closers[open] || limitOf(open), limitOf(open));
  return {
    tokens,
    at,
    text: (index) => at(index).text,
    isWord: (index, ...words) => at(index).kind === 'word' && words.includes(at(index).text),
    isPunct,
    closeOf,
    openerOf: (index) => openers[index] ?? -1,
    args(open) {
      const close = closeOf(open);
      const starts: number[] = [];
      let expects = true;
      for (let index = open + 1; index < close; index += 1) {
        if (at(index).kind === 'newline') continue;
        if (expects) starts.push(index);
        expects = isPunct(index, ',');
        // What is nested holds no argument of this list.
        if (isPunct(index, '(', '[', '{')) index = closers[index] || close;
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

/** For each opening bracket its closer (0: none), and for each token the bracket it stands in (-1: none). */
function matchBrackets(tokens: readonly Token[]): {
  readonly closers: Int32Array;
  readonly openers: Int32Array;
} {
  const closers = new Int32Array(tokens.length);
  const openers = new Int32Array(tokens.length);
  const open: number[] = [];
  tokens.forEach((token, index) => {
    const mark = token.kind === 'punct' ? token.text : '';
    if (mark === ')' || mark === ']' || mark === '}') {
      const opener = open.pop();
      if (opener !== undefined) closers[opener] = index;
    }
    openers[index] = open.at(-1) ?? -1;
    if (mark === '(' || mark === '[' || mark === '{') open.push(index);
  });
  return { closers, openers };
}
