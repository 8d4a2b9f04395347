/* The code of a test file without comments and strings, its helpers and its imports. */
import type { Language } from '../../readers/source/language.ts';
import type { Token } from '../../readers/source/tokens/lex.ts';
import type { Shape } from './blocks.ts';

const blank = 0x20;
const feed = 0x0a;

/** The code of a text: every offset stays, comments are blanks and of strings only the quotes are left. */
export function codeText(text: string, tokens: readonly Token[]): string {
  const source = Buffer.from(text, 'latin1');
  const code = Buffer.alloc(source.length, blank);
  for (let at = source.indexOf(feed); at !== -1; at = source.indexOf(feed, at + 1)) code[at] = feed;
  for (const { kind, start, end } of tokens) {
    if (kind === 'newline') continue;
    if (kind !== 'string') source.copy(code, start, start, end);
    else if (end > start) {
      code[start] = source[start] ?? blank;
      code[end - 1] = source[end - 1] ?? blank;
    }
  }
  return code.toString('latin1');
}

/** The same of a shell text, as far as lines that are comments go. */
export function shellCode(text: string): string {
  return text.replace(/^[ \t]*#[^\n]*/gm, (line) => ' '.repeat(line.length));
}

const withPreprocessor: ReadonlySet<Language> = new Set(['c', 'csharp', 'swift']);
const directive = /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]{0,200})/;

/** The text with `#if false` and `#if 0` blanked, so that offsets stay. */
export function withoutDeadCode(text: string, language: Language): string {
  if (!withPreprocessor.has(language) || !/#[ \t]*if[ \t]+(?:0|false)\b/.test(text)) return text;
  /** By depth: whether the code around the `#if` is left out. */
  const open: boolean[] = [];
  let isDead = false;
  return text
    .split('\n')
    .map((line) => {
      const found = directive.exec(line);
      if (!found) return isDead ? ' '.repeat(line.length) : line;
      const [, word = '', condition = ''] = found;
      if (word.startsWith('if')) {
        open.push(isDead);
        isDead ||= word === 'if' && /^(?:0|false)[ \t\r]*(?:\/[/*].*)?$/.test(condition);
      } else if (word === 'endif') {
        isDead = open.pop() ?? false;
      } else isDead = open.at(-1) ?? false;
      return ' '.repeat(line.length);
    })
    .join('\n');
}

const directories = /(?:^|\/)(?:__tests__|tests?|specs?|e2e|t)\//i;

/** Where each language keeps its tests, over whole paths. */
const patterns: Readonly<Record<Language, RegExp>> = {
  javascript: /[._-](?:test|spec|tests)\.[cm]?[jt]sx?$|(?:^|\/)test\.[cm]?[jt]s$/i,
  python: /(?:^|\/)test_[^/]*\.py$|_tests?\.py$|(?:^|\/)tests\.py$/,
  shell: /\.bats$|(?:^|\/)test[_-][^/]*\.sh$|[_-]test\.sh$/,
  ruby: /_(?:spec|test)\.rb$/,
  php: /Test\.php$|\.phpt$/,
  perl: /\.t$/,
  java: /(?:Tests?|IT|Spec)\.(?:java|groovy)$/,
  kotlin: /(?:Tests?|IT|Spec)\.kts?$/,
  scala: /(?:Tests?|IT|Spec|Suite)\.scala$/,
  // Not those of other systems and machines, nor those that the tool leaves out.
  go: /^(?!(?:.*\/)?testdata\/)(?:.*\/)?(?![_.])[^/]*(?<!_(?:windows|darwin|freebsd|netbsd|openbsd|plan9|solaris|js|wasip1|wasm|386|arm|arm64|riscv64))_test\.go$/,
  csharp: /Tests?\.cs$/,
  // Rust keeps unit tests beside the code.
  rust: /\.rs$/,
  c: /(?:^|[/_.-])tests?[^/]*\.(?:c|cc|cpp|cxx)$/i,
  swift: /Tests?\.swift$/,
  elixir: /_test\.exs$/,
};

/** True for files that may contain a test case of that language. */
export function isTestFile(path: string, language: Language): boolean {
  if (patterns[language].test(path)) return true;
  // Go and Elixir run only files with such a name.
  return language !== 'go' && language !== 'elixir' && directories.test(path);
}

/** A function that is not a test case. */
export interface HelperFunction {
  readonly name: string;
  readonly at: number;
  /** Where its body ends. */
  readonly end: number;
  /** Number of effective assertions. `strong` excludes errors that any function may raise. */
  readonly assertions: number;
  readonly strong: number;
}

const generic = String.raw`\b(?:function\s*\*?|def|defp|func|fun|fn|sub)\s+(?:self\.|\([^()\n]{0,100}\)\s*)?(\w{1,80})`;
const forms: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`\bfunction\s*\*?\s*(\w{1,80})|\b(?:const|let|var)\s+(\w{1,80})\s*(?::[^=\n]{0,80})?=\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*(?::[^=\n]{0,80})?=>|\w{1,40}\s*=>)|^[ \t]*(?:async\s+|static\s+)*(?!if\b|for\b|while\b|switch\b|catch\b|function\b)(\w{1,80})\s*\([^()\n]{0,300}\)\s*\{|\bexports\.(\w{1,80})\s*=|^[ \t]*(\w{1,80})\s*:\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*=>)`,
  java: String.raw`\b(?:void|boolean|[A-Z]\w{0,60}(?:<[^<>\n]{0,80}>)?)\s+(\w{1,80})\s*\([^()\n]{0,300}\)[^;{}\n]{0,100}\{`,
  csharp: String.raw`\b(?:void|bool|Task|[A-Z]\w{0,60}(?:<[^<>\n]{0,80}>)?)\s+(\w{1,80})\s*\([^()\n]{0,300}\)\s*(?:\{|=>)`,
  c: String.raw`^(?:static\s+)?(?:inline\s+)?[\w:*&<> ]{1,80}?[\s*&](\w{1,80})\s*\([^()\n]{0,300}\)\s*\{`,
  shell: String.raw`^[ \t]*(?:function[ \t]+)?(\w{1,80})[ \t]*\(\)[ \t]*\{`,
};
const weak =
  /^(?:throw|raise|panic|die|croak|exit|return|unreachable|\?|\.unwrap|\.expect|done|false|\.to\b|\[)/;

/**
 * Functions of a file with their assertions. `heard`: offsets of effective assertions. Names in `cases` are not
 * helpers.
 */
export function helperFunctions(
  code: string,
  language: Language,
  shape: Shape,
  heard: readonly number[],
  cases: ReadonlySet<string>,
): readonly HelperFunction[] {
  const found: HelperFunction[] = [];
  let first = 0;
  for (const match of code.matchAll(new RegExp(forms[language] ?? generic, 'gm'))) {
    const name = match.slice(1).find((one) => one !== undefined);
    if (name === undefined || cases.has(name)) continue;
    const from = match.index + match[0].length;
    const end = shape.endOf(Math.min(from, match.index + firstInk(code, match.index)));
    while ((heard[first] ?? code.length) < from) first += 1;
    let assertions = 0;
    let strong = 0;
    for (let at = first; (heard[at] ?? code.length) < end && at < first + 1_000; at += 1) {
      assertions += 1;
      if (!weak.test(code.slice(heard[at], (heard[at] ?? 0) + 12).trimStart())) strong += 1;
    }
    found.push({ name, at: match.index, end, assertions, strong });
  }
  return found;
}

function firstInk(code: string, at: number): number {
  return Math.max(0, code.slice(at, at + 200).search(/\S/));
}

/** Modules that provide declarations and assertions to JavaScript tests. */
export const testLibrary =
  /^(?:node:)?(?:assert(?:\/strict)?|test)$|^(?:chai|expect|should|power-assert|unexpected|vitest|mocha|jasmine|ava|tap|tape|zora|qunit|earl|sinon|cypress|uvu(?:\/assert)?|bun:test|@jest\/globals|@vitest\/\S+|@playwright\/\S+|@tapjs\/\S+|@japa\/\S+|@hapi\/(?:code|lab)|@open-wc\/testing|@std\/(?:assert|expect|testing)\S*|(?:jsr:)?@std\/\S+|https:\/\/deno\.land\/std\S*)$/;

/** The same for other languages, as their imports name it. */
const otherTestLibrary =
  /\b(?:import|from)\s+(?:unittest|pytest|XCTest|Testing)\b|"testing"|"github\.com\/stretchr\/testify|\borg\.(?:junit|testng|assertj|hamcrest|scalatest|mockito)\b|\bkotlin\.test\b|\bTest::\w|\b(?:Xunit|NUnit)\b|\bPHPUnit\b|\b(?:RSpec|Minitest)\b/;

/** Libraries that products use, too. */
const sharedLibrary = /^(?:node:)?assert(?:\/strict)?$|@std\/|deno\.land/;

/** Whether a file takes assertions from a test library. A helper by its name may also take them from a shared one. */
export function usesTestLibrary(text: string, isHelper: boolean): boolean {
  const modules = text.matchAll(/\b(?:from|import|require)\s*\(?\s*["'`]([^"'`\n]{1,200})["'`]/g);
  return (
    otherTestLibrary.test(text) ||
    (isHelper && /^[ \t]*assert[ (]/m.test(text)) ||
    [...modules].some(
      ([, module = '']) => testLibrary.test(module) && (isHelper || !sharedLibrary.test(module)),
    )
  );
}

/** Tests of languages that keep them apart from the product: Rust and doctests are left out. */
const declaration =
  /^[ \t]*(?:(?:async[ ]+)?def[ ]+test_\w*\(|(?:test|it|describe|suite)(?:\.\w{1,20})?\(\s*["'`]|func Test\w*\(\w+ \*testing\.|@Test\b|public[ ]+function[ ]+test)/m;

/** Whether a file declares tests as the frameworks of its language have them. */
export function declaresTests(text: string): boolean {
  return declaration.test(text);
}

/** A name that a file imports from a module. */
interface Binding {
  readonly name: string;
  readonly module: string;
  readonly at: number;
}

const imports =
  /\bimport\s+(?!type\b)([\w$*{},\s]{1,500}?)\s*\bfrom\s*["'`]([^"'`\n]{1,200})["'`]|\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*(?:await\s+import\s*\(|require\s*\()\s*["'`]([^"'`\n]{1,200})["'`]\s*\)/g;

/** Names that a text imports from modules, in order. `code` is the text without the content of strings and comments. */
export function bindingsOf(text: string, code: string): readonly Binding[] {
  return [...text.matchAll(imports)].flatMap((match) => {
    if (!/\S/.test(code[match.index] ?? ' ')) return [];
    const names = namesIn(match[1] ?? match[3] ?? '');
    return names.map((name) => ({ name, module: match[2] ?? match[4] ?? '', at: match.index }));
  });
}

/** Local names in `a, { b as c, d: e }, * as f`. */
function namesIn(clause: string): readonly string[] {
  return clause
    .split(/[{},]/)
    .map((part) => /([\w$]+)\s*(?:=[^=]*)?$/.exec(part.trim())?.[1] ?? '')
    .filter((name) => /^[A-Za-z_$]/.test(name));
}

/** Names by which code reaches a test library: imports and their aliases. */
export function libraryNames(text: string, code: string): ReadonlySet<string> {
  const names = new Set(
    bindingsOf(text, code)
      .filter(({ module }) => testLibrary.test(module))
      .map(({ name }) => name),
  );
  const alias =
    /\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*([\w$]{1,60})(?:\.(?:strict|assert|expect|default))?\s*(?:[;,\n]|$)/g;
  for (const [, given = '', from = ''] of code.matchAll(alias))
    if (names.has(from)) for (const name of namesIn(given)) names.add(name);
  return names;
}

/** Resolves a relative specifier to a path without its extension. */
export function resolveFrom(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of specifier.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return withoutEnding(parts.join('/'));
}

/** A path of a module without its ending, `index` included. */
function withoutEnding(path: string): string {
  return path.replace(/\.[cm]?[jt]sx?$/, '').replace(/\/index$/, '');
}

/** Names that declare a test and do not assert. */
const declaring =
  /^(?:test|it|describe|suite|context|before|after|beforeEach|afterEach|beforeAll|afterAll|mock|vi|jest|sinon|t|run|chai|AssertionError)$/;

/** Offsets of calls to functions imported from a test library: `equal(a, b)`. */
export function assertionCalls(text: string, code: string): readonly number[] {
  const names = [...libraryNames(text, code)].filter((name) => /^\w+$/.test(name) && !declaring.test(name));
  if (names.length === 0) return [];
  const form = new RegExp(String.raw`(?<![\w.$])(?:${names.slice(0, 60).join('|')})\s*\(`, 'g');
  return [...code.matchAll(form)].map(({ index }) => index);
}
