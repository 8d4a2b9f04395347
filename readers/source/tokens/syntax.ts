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

const double = (code?: readonly string[], multiline = false): StringForm => ({
  open: '"',
  close: '"',
  escape: 'backslash',
  multiline,
  ...(code ? { code } : {}),
});
const single = (multiline = false): StringForm => ({ open: "'", close: "'", escape: 'backslash', multiline });
const slashes = ['//'];
const block = [{ open: '/*', close: '*/', nests: false }];
const nested = [{ open: '/*', close: '*/', nests: true }];
const plain = { wordExtra: '', regex: false, newlines: false };

/** Syntax of every language but shell, which has a lexer of its own. */
export const syntaxes: Readonly<Record<Exclude<Language, 'shell'>, Syntax>> = {
  javascript: {
    lineComments: slashes,
    blockComments: block,
    strings: [
      { open: '`', close: '`', escape: 'backslash', multiline: true, code: ['${'] },
      double(),
      single(),
    ],
    wordExtra: '$#',
    regex: true,
    newlines: false,
    special: 'javascript',
  },
  python: {
    lineComments: ['#'],
    blockComments: [],
    strings: [
      { open: '"""', close: '"""', escape: 'backslash', multiline: true },
      { open: "'''", close: "'''", escape: 'backslash', multiline: true },
      double(),
      single(),
    ],
    wordExtra: '',
    regex: false,
    newlines: true,
    special: 'python',
  },
  ruby: {
    lineComments: ['#'],
    blockComments: [],
    strings: [
      { open: '`', close: '`', escape: 'backslash', multiline: true, code: ['#{'], kind: 'command' },
      double(['#{'], true),
      single(true),
    ],
    wordExtra: '@$?!',
    regex: true,
    newlines: true,
    special: 'ruby',
  },
  perl: {
    lineComments: ['#'],
    blockComments: [],
    strings: [
      { open: '`', close: '`', escape: 'backslash', multiline: true, kind: 'command' },
      double(['@{', '${'], true),
      single(true),
    ],
    wordExtra: '$@%',
    regex: true,
    newlines: true,
    special: 'perl',
  },
  php: {
    lineComments: ['//', '#'],
    blockComments: block,
    strings: [
      { open: '`', close: '`', escape: 'backslash', multiline: true, kind: 'command' },
      double(['{$', '${'], true),
      single(true),
    ],
    wordExtra: '$',
    regex: false,
    newlines: false,
    special: 'php',
  },
  java: {
    ...plain,
    lineComments: slashes,
    blockComments: block,
    strings: [{ open: '"""', close: '"""', escape: 'backslash', multiline: true }, double(), single()],
  },
  kotlin: {
    ...plain,
    lineComments: slashes,
    blockComments: nested,
    strings: [
      { open: '"""', close: '"""', escape: 'none', multiline: true, code: ['${'] },
      double(['${']),
      single(),
    ],
  },
  scala: {
    ...plain,
    lineComments: slashes,
    blockComments: nested,
    strings: [
      { open: '"""', close: '"""', escape: 'none', multiline: true, code: ['${'] },
      double(['${']),
      single(),
    ],
    newlines: true,
  },
  go: {
    ...plain,
    lineComments: slashes,
    blockComments: block,
    strings: [{ open: '`', close: '`', escape: 'none', multiline: true }, double(), single()],
    newlines: true,
  },
  csharp: {
    ...plain,
    lineComments: slashes,
    blockComments: block,
    strings: [
      { open: '$"""', close: '"""', escape: 'none', multiline: true, code: ['{'] },
      { open: '"""', close: '"""', escape: 'none', multiline: true },
      { open: '$@"', close: '"', escape: 'double', multiline: true, code: ['{'] },
      { open: '@$"', close: '"', escape: 'double', multiline: true, code: ['{'] },
      { open: '@"', close: '"', escape: 'double', multiline: true },
      { open: '$"', close: '"', escape: 'backslash', multiline: false, code: ['{'] },
      double(),
      single(),
    ],
  },
  rust: {
    ...plain,
    lineComments: slashes,
    blockComments: nested,
    strings: [double(undefined, true)],
    special: 'rust',
  },
  c: { ...plain, lineComments: slashes, blockComments: block, strings: [double(), single()] },
  swift: {
    ...plain,
    lineComments: slashes,
    blockComments: nested,
    strings: [{ open: '"""', close: '"""', escape: 'backslash', multiline: true }, double()],
    newlines: true,
  },
  elixir: {
    ...plain,
    lineComments: ['#'],
    blockComments: [],
    strings: [
      { open: '"""', close: '"""', escape: 'backslash', multiline: true, code: ['#{'] },
      { open: "'''", close: "'''", escape: 'backslash', multiline: true },
      double(['#{'], true),
      single(true),
    ],
    wordExtra: '?!@',
    newlines: true,
  },
};

/** The form of a Python string by its prefix letters. */
export function pythonForm(prefix: string, form: StringForm): StringForm {
  return /[ft]/i.test(prefix) ? { ...form, code: ['{'] } : form;
}
