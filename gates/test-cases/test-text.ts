/* The code of a test file without comments and strings, its path and its imports. */
import type { Language } from '../../readers/source/language.ts';
import type { Token } from '../../readers/source/tokens/lex.ts';

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

/** The text with what `#if 0` and `#if false` leave out blanked, so that offsets stay. */
export function withoutDeadCode(text: string, language: Language): string {
  if (language !== 'c' && language !== 'csharp' && language !== 'swift') return text;
  const form =
    /^[ \t]*#[ \t]*if[ \t]+(?:0|false)\b[^\n]*\n(?:(?![ \t]*#[ \t]*(?:endif|elif|elseif|else)\b)[^\n]*\n){0,5000}/gm;
  return text.replace(form, (found) => found.replace(/[^\n]/g, ' '));
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

const imports =
  /\bimport\s+(?!type\b)([\w$*{},\s]{1,500}?)\s*\bfrom\s*["'`]([^"'`\n]{1,200})["'`]|\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*(?:await\s+import\s*\(|require\s*\()\s*["'`]([^"'`\n]{1,200})["'`]\s*\)/g;

/** Names by which code reaches a test library: imports and their aliases. */
export function libraryNames(text: string, code: string): readonly string[] {
  // `a, { b as c, d: e }, * as f`
  const namesIn = (clause: string): readonly string[] =>
    clause.split(/[{},]/).flatMap((part) => /([A-Za-z_]\w*)\s*(?:=[^=]*)?$/.exec(part.trim())?.[1] ?? []);
  const names = new Set(
    [...text.matchAll(imports)].flatMap(({ index, 1: clause, 2: module, 3: name, 4: required }) =>
      testLibrary.test(module ?? required ?? '') && /\S/.test(code[index] ?? ' ')
        ? namesIn(clause ?? name ?? '')
        : [],
    ),
  );
  const alias =
    /\b(?:const|let|var)\s+([\w$]{1,60}|\{[^}]{0,400}\})\s*=\s*([\w$]{1,60})(?:\.(?:strict|assert|expect|default))?\s*(?:[;,\n]|$)/g;
  for (const [, given = '', from = ''] of code.matchAll(alias))
    if (names.has(from)) for (const name of namesIn(given)) names.add(name);
  return [...names];
}

/** Names that declare a test and do not assert. */
const declaring =
  /^(?:test|it|describe|suite|context|before|after|beforeEach|afterEach|beforeAll|afterAll|mock|vi|jest|sinon|t|run|chai|AssertionError)$/;

/** Offsets of calls to functions imported from a test library: `equal(a, b)`. */
export function assertionCalls(text: string, code: string): readonly number[] {
  const names = libraryNames(text, code).filter((name) => !declaring.test(name));
  if (names.length === 0) return [];
  const form = new RegExp(String.raw`(?<![\w.$])(?:${names.slice(0, 60).join('|')})\s*\(`, 'g');
  return [...code.matchAll(form)].map(({ index }) => index);
}
