import type { Language } from '../../readers/source/language.ts';
import { lex } from '../../readers/source/tokens/lex.ts';
import { syntaxes } from '../../readers/source/tokens/syntax.ts';
import { type TokenView, viewTokens } from '../direct-eval/token-view.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { findAnnotated, findKotlin, findScala, findSwift } from './annotated-cases.ts';
import { codeText, shellCode } from './code-text.ts';
import { findCsharp } from './csharp-cases.ts';
import { isNeverBuilt, withoutDeadCode } from './dead-code.ts';
import { beginningOf, bracketsAround, type CaseFinder, type DeclaredCase } from './declared-case.ts';
import { findJavascript } from './javascript-cases.ts';
import { findC, findElixir, findGo, findPerl, findPhp, findRust } from './other-cases.ts';
import { pythonCases } from './python-cases.ts';
import { rubyCases } from './ruby-cases.ts';

/** One declared test case. */
export interface TestCase {
  /** As written; empty where the language names none. */
  readonly name: string;
  readonly start: number;
  /** Behind its body; where none is seen, the start of the next case. */
  readonly end: number;
  /** Where its body begins, behind the bracket; absent where no bracket is seen. */
  readonly inside?: number;
  /** It is left out, or tests nothing. */
  readonly isIdle: boolean;
  /** The code up to the next case, without name, comments and layout: tells a renamed case from a new one. */
  readonly body: string;
}

type Finder = (view: TokenView, source: ChangedSource) => readonly DeclaredCase[];

const finders: Readonly<Record<Exclude<Language, 'shell'>, Finder>> = {
  javascript: atEach(findJavascript),
  python: pythonCases,
  ruby: rubyCases,
  php: (view, source) => atEach((one, index) => findPhp(one, index, source))(view),
  perl: atEach(findPerl),
  java: atEach(findAnnotated),
  kotlin: atEach(findKotlin),
  scala: atEach(findScala),
  go: atEach(findGo),
  csharp: atEach(findCsharp),
  rust: atEach(findRust),
  c: atEach(findC),
  swift: atEach(findSwift),
  elixir: atEach(findElixir),
};

/**
 * Test cases declared in a source that would run, in order; those in comments and strings, those that are left out, and
 * those that test nothing are none.
 */
export function testCases(source: ChangedSource, language: Language): readonly TestCase[] {
  return readTests(source, language).cases.filter(({ isIdle }) => !isIdle);
}

/**
 * What a source declares, idle cases included, and its code: of the same length, without comments and what strings
 * hold.
 */
export interface ReadTests {
  readonly cases: readonly TestCase[];
  readonly code: string;
}

/** Reads the cases of a source. */
export function readTests(source: ChangedSource, language: Language): ReadTests {
  if (language === 'shell') return { cases: shellCases(source.text), code: shellCode(source.text) };
  const isLeftOut = isNeverBuilt(source, language);
  const syntax = syntaxes[language];
  const text = withoutDeadCode(source.text, language);
  const whole = source.whole ? lex(text, syntax, { lineBound: false }) : undefined;
  const tokens = whole && !whole.confused ? whole.tokens : lex(text, syntax, { lineBound: true }).tokens;
  const view = viewTokens(tokens);
  const found = finders[language](view, source);
  const idle = new Set<number>();
  for (const { body, isSkipped } of found)
    if (body !== undefined && (isSkipped || testsNothing.test(beginningOf(view, body)))) idle.add(body);
  const cases = found.map(({ at, name, body, isSkipped }, position): TestCase => {
    let isIdle = isLeftOut || isSkipped || (body !== undefined && idle.has(body));
    for (const open of isIdle ? [] : bracketsAround(view, at)) if (idle.has(open)) isIdle = true;
    const next = found[position + 1]?.at ?? tokens.length;
    const said = tokens
      .slice(at, next)
      .filter((token) => token.start !== name.start && token.kind !== 'newline')
      .map((token) => token.text);
    const last = body === undefined ? next : view.farCloseOf(body);
    return {
      name: name.text,
      start: view.at(at).start,
      end: last < tokens.length ? view.at(last).start : text.length,
      ...(body === undefined ? {} : { inside: view.at(body).end }),
      isIdle,
      body: said.join(' '),
    };
  });
  return { cases, code: codeText(text, tokens) };
}

function atEach(find: CaseFinder): (view: TokenView) => readonly DeclaredCase[] {
  return (view) => view.tokens.flatMap((_, index) => find(view, index) ?? []);
}

/** How a body begins that is empty, or that leaves itself out, in any language with braces. */
const testsNothing = new RegExp(
  [
    '[; ]*$',
    'return ?(?:;|$)',
    // `t.skip()`, `this.skip()`, `t.Parallel(); t.Skip("…")`, `if true { t.Skip() }`.
    '(?:t \\. Parallel \\( \\) (?:; )?)?(?:if true \\{ )?[\\w$]+ \\. (?:skip|todo|Skip|SkipNow|Skipf|skipTest) \\(',
    '\\$?(?:this|self|static) ?(?:->|- >|::|: :) ?markTest(?:Skipped|Incomplete)',
    'Assert \\. (?:Ignore|Inconclusive|Skip) \\(',
    '(?:Assumptions|Assume|TestAbortedException) \\. (?:abort \\(|assumeTrue \\( false|assumeFalse \\( true)',
    '(?:abort|cancel|assumeTrue \\( false|assumeFalse \\( true)(?: \\(|$| ,| \\))',
    'throw (?:new )?(?:\\w+ \\. )*(?:SkipException|TestAbortedException|AssumptionViolatedException|XCTSkip)\\b',
    'try XCTSkipIf \\( true',
    'pending(?: [(;]|$)',
    'GTEST_SKIP \\(',
    'SKIP \\(',
    'plan \\(? ?skip_all',
  ]
    .map((form) => `^(?:${form})`)
    .join('|'),
);

/** Bats `@test "…" {` and functions `test_…()`; a here-document that holds such a line is not told apart. */
function shellCases(text: string): readonly TestCase[] {
  const form =
    /^[ \t]*(?:@test[ \t]+(["'])(.{1,500}?)\1[ \t]*\{|(?:function[ \t]+)?(test_?\w{1,200})[ \t]*\(\)[ \t]*\{?)/gm;
  const found = [...text.matchAll(form)];
  return found.map((match, index): TestCase => {
    const start = match.index;
    const end = found[index + 1]?.index ?? text.length;
    const inside = start + match[0].length;
    const body = text
      .slice(inside, end)
      .replace(/^\s*#.*$/gm, '')
      .replace(/\s+/g, ' ');
    const isIdle = /^\s*\{?\s*(?:\}|skip\b|return\s*(?:0\s*)?[;}]|(?::|true)\s*;?\s*\}\s*$)/.test(body);
    return { name: match[2] ?? match[3] ?? '', start, end, inside, isIdle, body };
  });
}
