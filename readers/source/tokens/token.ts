/** What a piece of code is; `command` is a string that is run. */
export type TokenKind = 'word' | 'string' | 'command' | 'regex' | 'number' | 'punct' | 'newline';

/**
 * A piece of code. `text` is the word or punctuation itself; for strings, what stands between the quotes (200
 * characters at most).
 */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  end: number;
  /** A string that holds code or variables. */
  dynamic?: boolean;
}

export interface Lexed {
  readonly tokens: readonly Token[];
  /** The text ended inside a comment, string or embedded code, so that what was hidden may be code. */
  readonly confused: boolean;
}
