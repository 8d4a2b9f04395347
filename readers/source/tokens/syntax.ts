/* Comments and strings of each language, as data. */
import type { Language } from '../language.ts';

/** One way to write a string. */
export interface StringForm {
  readonly open: string;
  readonly close: string;
  readonly escape: 'backslash' | 'double' | 'none';
  readonly multiline: boolean;
  /** What opens code inside the string; it ends at the matching `}`. */
  readonly code?: readonly string[];
}

/** How one language separates code from comments and strings. Patterns are sticky. */
export interface Syntax {
  readonly lineComment: RegExp;
  /** Whether it has C's block comments. */
  readonly blockComment?: 'flat' | 'nests';
  /** Longer openers first. */
  readonly strings: readonly StringForm[];
  readonly word: RegExp;
  /** `/…/` may be a regular expression. */
  readonly regex?: boolean;
  readonly newlines?: boolean;
  /** Letters before a quote. */
  readonly prefix?: RegExp;
  /** A quote that opens no string, or a character in quotes. */
  readonly literal?: RegExp;
  /** What announces a document: its sign, quote and terminator. */
  readonly document?: RegExp;
  /** A quote that is written as an operator, before its delimiter. */
  readonly operator?: RegExp;
  /** What opens and closes a comment at the start of a line. */
  readonly documentation?: readonly [open: RegExp, close: string];
  readonly special?: 'ruby' | 'php' | 'javascript';
}

/** A string between `open` and its mirror, over one line, with backslashes. */
const form = (open: string, more: Partial<StringForm> = {}): StringForm => ({
  open,
  close: open,
  escape: 'backslash',
  multiline: false,
  ...more,
});
/** The same over several lines; `code` opens code in it. */
const long = (
  open: string,
  code: string | undefined = undefined,
  more: Partial<StringForm> = {},
): StringForm =>
  form(open, { multiline: true, ...(code === undefined ? {} : { code: code.split(' ') }), ...more });
const double = form('"');
const single = form("'");
const raw = { escape: 'none' } as const;
/** Letters, digits and `_`, every byte of other characters, and `more`. */
const word = (more = '', first = ''): RegExp => new RegExp(`${first}(?:[\\w\\x80-\\xff${more}])+`, 'y');
/** `?` and `!` end a word; elsewhere they are operators. */
const marked = String.raw`]|(?<=\w)[?!](?![=\w])|[@`;
/** Perl's and Ruby's `$'`, `$"`, `$#x`: the second character opens no string or comment. */
const punctuated = String.raw`\$["'\`#/\\;!&,.]|`;
const cLike = { lineComment: /\/\/[^\n\r]*/y, blockComment: 'flat', word: word() } as const;
const nesting = { ...cLike, blockComment: 'nests' } as const;
const hashed = { lineComment: /#[^\n\r]*/y, word: word(), newlines: true };

/** Syntax of every language but shell. */
export const syntaxes: Readonly<Record<Exclude<Language, 'shell'>, Syntax>> = {
  javascript: {
    ...cLike,
    // A URL in the text of markup is not a comment.
    lineComment: /(?<!\w:)\/\/[^\n\r]*/y,
    strings: [long('`', '${'), double, single],
    word: word('$#'),
    regex: true,
    special: 'javascript',
  },
  python: {
    ...hashed,
    strings: [long('"""'), long("'''"), double, single],
    prefix: /[rbuft]{1,2}(?=["'])/iy,
  },
  ruby: {
    ...hashed,
    strings: [long('`', '#{'), long('"', '#{'), long("'")],
    word: word(`$${marked}`, String.raw`${punctuated}(?<!\w)\?["'\`#/](?!\S)|`),
    regex: true,
    document: /<<([~-]?)(["'`]?)([A-Za-z_]\w{0,99})\2/y,
    operator: /%[qQwWiIxrs]?(?=[([{<|!/])/y,
    documentation: [/=begin/y, '\n=end'],
    special: 'ruby',
  },
  perl: {
    ...hashed,
    strings: [long('`'), long('"', '@{ ${'), long("'")],
    word: word(String.raw`$@]|(?<![\w)\]}])%(?=[A-Za-z_])|[_`, punctuated),
    regex: true,
    document: /<<(~?)(["']?)([A-Za-z_]\w{0,99})\2/y,
    operator: /(?<![\w$@%&])(?:(?:qq|qw|qr|qx|q|m|s|tr|y)(?!\w))(?: *(?=[^\w\s,;)}=#])|(?=#))/y,
    documentation: [/=[a-z]/iy, '\n=cut'],
  },
  php: {
    ...cLike,
    lineComment: /(?:\/\/|#(?!\[))(?:(?!\?>)[^\n\r])*/y,
    strings: [long('`'), long('"', '{$ ${'), long("'")],
    word: word('$'),
    document: /<<<()[ \t]*(["']?)([A-Za-z_]\w{0,99})\2/y,
    special: 'php',
  },
  java: { ...cLike, strings: [long('"""'), double, single] },
  kotlin: { ...nesting, strings: [long('"""', '${', raw), form('"', { code: ['${'] }), single] },
  scala: {
    ...nesting,
    strings: [long('"""', '${', raw), form('"', { code: ['${'] }), single],
    newlines: true,
  },
  go: { ...cLike, strings: [long('`', undefined, raw), double, single], newlines: true },
  csharp: {
    ...cLike,
    strings: [
      long('$"""', '{', { ...raw, close: '"""' }),
      long('"""', undefined, raw),
      long('$@"', '{', { escape: 'double', close: '"' }),
      long('@$"', '{', { escape: 'double', close: '"' }),
      long('@"', undefined, { escape: 'double', close: '"' }),
      form('$"', { code: ['{'], close: '"' }),
      double,
      single,
    ],
  },
  rust: { ...nesting, strings: [long('"')], literal: /'(?:\\[\s\S][^']{0,12}'|[\s\S]')?/y },
  c: { ...cLike, strings: [double, single] },
  swift: { ...nesting, strings: [long('"""'), double], newlines: true },
  elixir: {
    ...hashed,
    strings: [long('"""', '#{'), long("'''"), long('"', '#{'), long("'")],
    word: word(marked),
  },
};
