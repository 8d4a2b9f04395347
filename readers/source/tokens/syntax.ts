import type { Language } from '../language.ts';

/** One way to write a string. */
export interface StringForm {
  readonly open: string;
  readonly close: string;
  readonly escape: 'backslash' | 'double' | 'none';
  readonly multiline: boolean;
  /** What opens code inside the string; it ends at the matching `}`. */
  readonly code?: readonly string[];
  /** `command`: the text is run, not kept. */
  readonly kind?: 'command';
}

/** How one language separates code from comments and strings. */
export interface Syntax {
  readonly lineComments: readonly string[];
  readonly blockComments: readonly {
    readonly open: string;
    readonly close: string;
    readonly nests: boolean;
  }[];
  /** Longer openers first. */
  readonly strings: readonly StringForm[];
  /** Characters beyond letters, digits and `_` that may stand in a word. */
  readonly wordExtra: string;
  /** `/…/` may be a regular expression. */
  readonly regex: boolean;
  readonly newlines: boolean;
  readonly special?: 'python' | 'ruby' | 'perl' | 'php' | 'javascript' | 'rust';
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
const command = { kind: 'command' } as const;
const block = [{ open: '/*', close: '*/', nests: false }];
const nested = [{ open: '/*', close: '*/', nests: true }];
const cLike = {
  lineComments: ['//'],
  blockComments: block,
  wordExtra: '',
  regex: false,
  newlines: false,
};
const hashed = { ...cLike, lineComments: ['#'], blockComments: [], newlines: true };

/** Syntax of every language but shell, which has a lexer of its own. */
export const syntaxes: Readonly<Record<Exclude<Language, 'shell'>, Syntax>> = {
  javascript: {
    ...cLike,
    strings: [long('`', '${'), double, single],
    wordExtra: '$#',
    regex: true,
    special: 'javascript',
  },
  python: { ...hashed, strings: [long('"""'), long("'''"), double, single], special: 'python' },
  ruby: {
    ...hashed,
    strings: [long('`', '#{', command), long('"', '#{'), long("'")],
    wordExtra: '@$?!',
    regex: true,
    special: 'ruby',
  },
  perl: {
    ...hashed,
    strings: [long('`', undefined, command), long('"', '@{ ${'), long("'")],
    wordExtra: '$@%',
    regex: true,
    special: 'perl',
  },
  php: {
    ...cLike,
    lineComments: ['//', '#'],
    strings: [long('`', undefined, command), long('"', '{$ ${'), long("'")],
    wordExtra: '$',
    special: 'php',
  },
  java: { ...cLike, strings: [long('"""'), double, single] },
  kotlin: {
    ...cLike,
    blockComments: nested,
    strings: [long('"""', '${', raw), form('"', { code: ['${'] }), single],
  },
  scala: {
    ...cLike,
    blockComments: nested,
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
  rust: { ...cLike, blockComments: nested, strings: [long('"')], special: 'rust' },
  c: { ...cLike, strings: [double, single] },
  swift: { ...cLike, blockComments: nested, strings: [long('"""'), double], newlines: true },
  elixir: {
    ...hashed,
    strings: [long('"""', '#{'), long("'''"), long('"', '#{'), long("'")],
    wordExtra: '?!@',
  },
};

/** The form of a Python string by its prefix letters. */
export function pythonForm(prefix: string, form: StringForm): StringForm {
  return /[ft]/i.test(prefix) ? { ...form, code: ['{'] } : form;
}
