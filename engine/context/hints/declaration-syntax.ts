/* How each language declares names, as data. */
import type { DeclaringLanguage } from '../../../readers/source/language.ts';

/** How a language declares names. */
export interface DeclarationSyntax {
  /** Words that come directly before a declared name. */
  readonly keywords: ReadonlySet<string>;
  /** Words that declare a name only at the start of a line: inside a block they make locals. */
  readonly topKeywords: ReadonlySet<string>;
  /**
   * Words that may come before `name(…) {` in a declaration; `any` also allows a type. Absent: the language has no
   * such form.
   */
  readonly bareFunction?: ReadonlySet<string> | 'any';
  /** `NAME = …` at the start of a line. */
  readonly assignment: boolean;
  readonly block: 'braces' | 'indent' | 'end';
  readonly lineComment: readonly string[];
  /** Quotes that open a string. */
  readonly quotes: string;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const none: ReadonlySet<string> = new Set();
const braces = {
  topKeywords: none,
  assignment: false,
  block: 'braces',
  lineComment: ['//', '*'],
  quotes: '"\'`',
} as const;

/**
 * One row per language. This is data, not a grammar: a definition that matches none of these forms is not found, and
 * is reported as not found.
 */
export const declarationSyntax: Readonly<Record<DeclaringLanguage, DeclarationSyntax>> = {
  javascript: {
    ...braces,
    keywords: set('function function* class interface type enum namespace module'),
    topKeywords: set('const let var'),
    bareFunction: set(
      'public private protected static async get set readonly override abstract export default declare accessor',
    ),
  },
  python: {
    keywords: set('def class'),
    topKeywords: set('type'),
    assignment: true,
    block: 'indent',
    lineComment: ['#'],
    quotes: '"\'',
  },
  go: { ...braces, keywords: set('func type'), topKeywords: set('var const') },
  rust: {
    ...braces,
    keywords: set('fn struct enum trait union mod macro_rules! type const static'),
    quotes: '"',
  },
  java: { ...braces, keywords: set('class interface enum record @interface def'), bareFunction: 'any' },
  kotlin: { ...braces, keywords: set('fun class interface object typealias'), topKeywords: set('val var') },
  csharp: {
    ...braces,
    keywords: set('class struct interface enum record delegate namespace'),
    bareFunction: 'any',
  },
  scala: { ...braces, keywords: set('def class trait object enum type'), topKeywords: set('val var') },
  c: {
    ...braces,
    keywords: set('struct class enum union namespace concept #define using'),
    bareFunction: 'any',
    quotes: '"\'',
  },
  swift: {
    ...braces,
    keywords: set('func class struct enum protocol actor extension typealias'),
    topKeywords: set('let var'),
  },
  ruby: {
    keywords: set('def class module'),
    topKeywords: none,
    assignment: true,
    block: 'end',
    lineComment: ['#'],
    quotes: '"\'',
  },
  php: {
    ...braces,
    keywords: set('function class interface trait enum const'),
    lineComment: ['//', '*', '#'],
    quotes: '"\'',
  },
  shell: {
    ...braces,
    keywords: set('function'),
    bareFunction: none,
    assignment: true,
    lineComment: ['#'],
    quotes: '"\'',
  },
  elixir: {
    keywords: set('def defp defmacro defmodule defprotocol defstruct'),
    topKeywords: none,
    assignment: false,
    block: 'end',
    lineComment: ['#'],
    quotes: '"',
  },
  lua: {
    keywords: set('function'),
    topKeywords: set('local'),
    assignment: true,
    block: 'end',
    lineComment: ['--'],
    quotes: '"\'',
  },
};
