import { type TokenView, viewTokens } from '../direct-eval/token-view.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import type { Language } from '../source/language.ts';
import { lex } from '../source/lex.ts';
import { syntaxes } from '../source/syntax.ts';
import type { Token } from '../source/token.ts';

/** One declared test case that would run. */
export interface TestCase {
  /** As written; empty where the language names none. */
  readonly name: string;
  readonly start: number;
  /** The code up to the next case, without name, comments and layout: tells a renamed case from a new one. */
  readonly body: string;
}

/** Name token of the case declared at a word or mark; `undefined` where none is, or where it is skipped. */
type Finder = (view: TokenView, index: number) => Token | undefined;

const finders: Readonly<Record<Exclude<Language, 'shell'>, Finder>> = {
  javascript: findJavascript,
  python: findPython,
  ruby: findRuby,
  php: findPhp,
  perl: findPerl,
  java: findAnnotated,
  kotlin: findAnnotated,
  scala: findAnnotated,
  go: findGo,
  csharp: findCsharp,
  rust: findRust,
  c: findC,
  swift: findSwift,
  elixir: (view, index) =>
    view.isWord(index, 'test', 'property') && view.at(index + 1).kind === 'string'
      ? view.at(index + 1)
      : undefined,
};

/** Test cases declared in a source, in order; those in comments and strings, and those marked to be skipped, are none. */
export function testCases(source: ChangedSource, language: Language): readonly TestCase[] {
  if (language === 'shell') return shellCases(source.text);
  const syntax = syntaxes[language];
  const whole = source.whole ? lex(source.text, syntax, { lineBound: false }) : undefined;
  const tokens =
    whole && !whole.confused ? whole.tokens : lex(source.text, syntax, { lineBound: true }).tokens;
  const view = viewTokens(tokens);
  const found: { index: number; name: Token }[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const name = finders[language](view, index);
    if (name) found.push({ index, name });
  }
  const cases = found.map(({ index, name }, position) => {
    const end = found[position + 1]?.index ?? tokens.length;
    const body = tokens
      .slice(index, end)
      .filter((token) => token !== name && token.kind !== 'newline')
      .map((token) => token.text);
    return { name: name.text, start: view.at(index).start, body: body.join(' ') };
  });
  return cases.filter(({ body }) => !testsNothing.test(body.slice(0, 2000)));
}

/** A body that is empty, is `pass`, or begins by skipping itself. */
const testsNothing =
  /^func \([^{]{0,200}\{ \}|^(?:it|test|specify)\b[^{]{0,200}(?:=>|\)) \{ \}|^def \([^:]{0,200}\) : (?:pass(?: |$)|\. ?\. ?\.(?: |$))|^(?:func|def|function|it|test|specify)\b[^{:]{0,200}[{:] (?:\w+ \. (?:skip|Skip|SkipNow|Skipf|skipTest) \(|\$?this -> ?markTest(?:Skipped|Incomplete))/;

/** `it('…', …)`, `test('…', …)`, `t.test('…', …)`, `it.each(…)('…', …)`; without a function behind the name it is a to-do. */
function findJavascript(view: TokenView, index: number): Token | undefined {
  if (!view.isWord(index, 'it', 'test', 'specify')) return undefined;
  // `t.test(…)` of tap; `/re/.test(…)` and `pattern.test(value)` are something else, which the name tells.
  let open = index + 1;
  while (view.isPunct(open, '.')) {
    if (view.isWord(open + 1, 'skip', 'todo', 'skipIf', 'failing', 'fixme', 'describe')) return undefined;
    open += 2;
    if (view.isPunct(open, '(') && view.isPunct(view.closeOf(open) + 1, '(')) open = view.closeOf(open) + 1;
    else if (view.at(open).kind === 'string' && view.isPunct(open + 1, '(')) open += 1;
  }
  const name = view.at(open + 1);
  if (!view.isPunct(open, '(') || name.kind !== 'string') return undefined;
  const rest = view.args(open).slice(1);
  const isSkipped = rest.some(
    (start) =>
      view.isPunct(start, '{') &&
      view.args(start).some((key) => view.isWord(key, 'skip', 'todo') && !view.isWord(key + 2, 'false')),
  );
  return rest.length > 0 && !isSkipped && !isInSkippedGroup(view, index) ? name : undefined;
}

/** `describe.skip('…', () => {…})`, `xdescribe(…)` and their like around a case. */
function isInSkippedGroup(view: TokenView, index: number): boolean {
  for (let open = view.openerOf(index), depth = 0; open >= 0 && depth < 100; depth += 1) {
    const isGroup = view.isWord(open - 3, 'describe', 'suite', 'context') && view.isPunct(open - 2, '.');
    if (isGroup && view.isWord(open - 1, 'skip', 'todo')) return true;
    if (view.isPunct(open, '(') && view.isWord(open - 1, 'xdescribe', 'xcontext')) return true;
    open = view.openerOf(open);
  }
  return false;
}

/** `def test_…(`; a skip decorator on it makes it none. */
function findPython(view: TokenView, index: number): Token | undefined {
  const name = view.at(index + 1);
  if (!view.isWord(index, 'def') || !/^test/.test(name.text)) return undefined;
  for (let at = index - 1, lines = 0; at >= 0 && lines < 8; at -= 1) {
    if (view.at(at).kind === 'newline') {
      lines += 1;
      let first = at - 1;
      while (first >= 0 && view.at(first).kind !== 'newline') first -= 1;
      if (!view.isPunct(first + 1, '@')) break;
    }
    if (view.isWord(at, 'skip', 'skipIf', 'skipif', 'xfail', 'expectedFailure')) return undefined;
  }
  return name;
}

function findRuby(view: TokenView, index: number): Token | undefined {
  if (view.isWord(index, 'def') && /^test_/.test(view.text(index + 1))) return view.at(index + 1);
  if (!view.isWord(index, 'it', 'specify', 'test', 'scenario', 'example') || view.isPunct(index - 1, '.'))
    return undefined;
  const name = view.at(view.isPunct(index + 1, '(') ? index + 2 : index + 1);
  if (name.kind !== 'string' || name.dynamic) return name.kind === 'string' ? name : undefined;
  const hasBlock = Array.from({ length: 12 }, (_, offset) => index + 2 + offset).some(
    (at) => view.isWord(at, 'do') || view.isPunct(at, '{'),
  );
  return hasBlock ? name : undefined;
}

function findPhp(view: TokenView, index: number): Token | undefined {
  if (view.isWord(index, 'function') && view.at(index + 1).kind === 'word') {
    const isNamed = /^test/i.test(view.text(index + 1));
    return isNamed || hasMark(view, index, ['Test']) ? view.at(index + 1) : undefined;
  }
  if (
    !view.isWord(index, 'it', 'test') ||
    !view.isPunct(index + 1, '(') ||
    view.isPunct(index - 1, '->', '::')
  )
    return undefined;
  return view.at(index + 2).kind === 'string' && view.args(index + 1).length > 1
    ? view.at(index + 2)
    : undefined;
}

function findPerl(view: TokenView, index: number): Token | undefined {
  if (view.isPunct(index - 1, '->', '::') || view.isWord(index - 1, 'sub')) return undefined;
  if (view.isWord(index, 'subtest')) return view.at(view.isPunct(index + 1, '(') ? index + 2 : index + 1);
  const isAssertion = view.isWord(
    index,
    'ok',
    'is',
    'isnt',
    'like',
    'unlike',
    'is_deeply',
    'cmp_ok',
    'isa_ok',
    'can_ok',
    'dies_ok',
    'lives_ok',
    'throws_ok',
  );
  if (
    !isAssertion ||
    !(
      view.isPunct(index + 1, '(') ||
      view.at(index + 1).kind === 'word' ||
      view.at(index + 1).kind === 'string'
    )
  )
    return undefined;
  const open = view.isPunct(index + 1, '(') ? index + 1 : undefined;
  const last = open === undefined ? undefined : view.at(view.args(open).at(-1) ?? open);
  // An assertion without a description has no name.
  return last?.kind === 'string' ? last : { ...view.at(index), text: '' };
}

/** JUnit, TestNG and kotlin.test: an annotation before the method. */
function findAnnotated(view: TokenView, index: number): Token | undefined {
  if (
    !view.isPunct(index - 1, '@') ||
    !view.isWord(index, 'Test', 'ParameterizedTest', 'RepeatedTest', 'TestFactory', 'Property')
  )
    return undefined;
  const around = Array.from({ length: 24 }, (_, offset) => index - 6 + offset);
  const method = around.find(
    (at) =>
      at > index && view.at(at).kind === 'word' && view.isPunct(at + 1, '(') && !view.isPunct(at - 1, '@'),
  );
  const isSkipped = around.some(
    (at) => at < (method ?? index) && view.isPunct(at - 1, '@') && view.isWord(at, 'Disabled', 'Ignore'),
  );
  return method === undefined || isSkipped ? undefined : view.at(method);
}

function findCsharp(view: TokenView, index: number): Token | undefined {
  if (
    !view.isPunct(index - 1, '[', ',') ||
    !view.isWord(index, 'Fact', 'Theory', 'Test', 'TestCase', 'TestMethod', 'DataTestMethod')
  )
    return undefined;
  let at = index + 1;
  for (
    const stop = index + 60;
    at < stop &&
    !(view.at(at).kind === 'word' && view.isPunct(at + 1, '(') && !view.isPunct(at - 1, '[', ',', '.', '('));
    at += 1
  ) {
    if (view.isWord(at, 'Skip', 'Ignore')) return undefined;
  }
  return view.isPunct(at + 1, '(') ? view.at(at) : undefined;
}

function findGo(view: TokenView, index: number): Token | undefined {
  if (
    view.isWord(index, 'func') &&
    /^(?:Test|Fuzz|Example)(?![a-z])/.test(view.text(index + 1)) &&
    view.isPunct(index + 2, '(')
  )
    return view.at(index + 1);
  const isSubtest =
    view.isWord(index, 'Run') &&
    view.isPunct(index - 1, '.') &&
    view.isPunct(index + 1, '(') &&
    view.at(index + 2).kind === 'string';
  return isSubtest ? view.at(index + 2) : undefined;
}

/** `#[test]`, `#[tokio::test]`, `#[rstest]` before a function, without `#[ignore]`. */
function findRust(view: TokenView, index: number): Token | undefined {
  if (!view.isWord(index, 'fn') || !hasMark(view, index, ['test', 'rstest', 'test_case', 'quickcheck']))
    return undefined;
  return hasMark(view, index, ['ignore']) ? undefined : view.at(index + 1);
}

/** An attribute `#[…]` right before a declaration holds one of the words. */
function hasMark(view: TokenView, index: number, words: readonly string[]): boolean {
  for (let at = index - 1; at > index - 60 && at >= 0 && !view.isPunct(at, '}', ';', '{'); at -= 1) {
    if (view.isWord(at, ...words) && view.isPunct(at + 1, ']', '(', ',')) return true;
  }
  return false;
}

/** GoogleTest, Catch2, Check, Unity. */
function findC(view: TokenView, index: number): Token | undefined {
  if (
    !view.isWord(
      index,
      'TEST',
      'TEST_F',
      'TEST_P',
      'TYPED_TEST',
      'TEST_CASE',
      'SCENARIO',
      'START_TEST',
      'BOOST_AUTO_TEST_CASE',
    ) ||
    !view.isPunct(index + 1, '(')
  )
    return undefined;
  const name = view.at(view.args(index + 1).at(1) ?? index + 2);
  return /^DISABLED_/.test(name.text) ? undefined : name;
}

function findSwift(view: TokenView, index: number): Token | undefined {
  if (!view.isWord(index, 'func')) return undefined;
  const isNamed = /^test/.test(view.text(index + 1));
  const isMarked = Array.from({ length: 8 }, (_, offset) => index - 8 + offset).some(
    (at) => view.isWord(at, 'Test') && view.isPunct(at - 1, '@'),
  );
  return isNamed || isMarked ? view.at(index + 1) : undefined;
}

/** Bats `@test "…" {` and functions `test_…()`; a here-document that holds such a line is not told apart. */
function shellCases(text: string): readonly TestCase[] {
  const form =
    /^[ \t]*(?:@test[ \t]+(["'])(.{1,500}?)\1[ \t]*\{|(?:function[ \t]+)?(test_?\w{1,200})[ \t]*\(\)[ \t]*\{?)/gm;
  const found = [...text.matchAll(form)];
  return found.map((match, index) => {
    const start = match.index;
    const body = text
      .slice(start + match[0].length, found[index + 1]?.index ?? text.length)
      .replace(/^\s*#.*$/gm, '')
      .replace(/\s+/g, ' ');
    return { name: match[2] ?? match[3] ?? '', start, body };
  });
}
