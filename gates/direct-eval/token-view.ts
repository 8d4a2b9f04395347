import type { Token } from '../../readers/source/tokens/lex.ts';

/** Tokens with the questions that matchers ask. Indexes outside the list answer an empty token. */
export type TokenView = ReturnType<typeof viewTokens>;

const nothing: Token = { kind: 'newline', text: '', start: 0, end: 0, dynamic: false };

/** Wraps a token list. */
export function viewTokens(tokens: readonly Token[]) {
  const at = (index: number): Token => tokens[index] ?? nothing;
  const isOf = (kind: Token['kind'], index: number, texts: readonly string[]): boolean =>
    at(index).kind === kind && texts.includes(at(index).text);
  const beyond = (index: number, step: 1 | -1): number => {
    let found = index + step;
    while (tokens[found]?.kind === 'newline') found += step;
    return found;
  };
  return {
    at,
    text: (index: number): string => at(index).text,
    /** True for a word token of that text. */
    isWord: (index: number, ...words: readonly string[]): boolean => isOf('word', index, words),
    isPunct: (index: number, ...marks: readonly string[]): boolean => isOf('punct', index, marks),
    /** Index after `index` that is no line break. */
    next: (index: number): number => beyond(index, 1),
    previous: (index: number): number => beyond(index, -1),
  };
}
