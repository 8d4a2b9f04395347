/* Lists the test cases and assertions of one side of a test file. */

import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Executed, ExecutedCheck } from '../../core/interfaces/rule.ts';
import { firstIndex } from '../../readers/source/first-index.ts';
import { isCode, type Language } from '../../readers/source/language.ts';
import {
  isCollected,
  isData,
  isOfTests,
  isSurelyOfTests,
  mayChangeTests,
  testsOfBase,
} from '../../readers/source/test-paths.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { coverOf, isOutline, type Outline, type Span } from './blocks.ts';
import { conditionsAround, leavesOutElsewhere } from './conditions.ts';
import { expectsFailure, focusMarks, skipMarks } from './skip-marks.ts';
import { deadSpans, swallowedSpans } from './swallowed-spans.ts';
import { readTests, type TestCase } from './test-cases.ts';
import { assertionCalls, type HelperFunction, helperFunctions } from './test-text.ts';

/**
 * The check on the candidate with the tests of the base and the data that they read; `undefined` if all of them are as
 * there.
 */
export async function rerunBaseTests(
  one: ExecutedCheck & TestsOfChange,
  tests = baseTests(one),
): Promise<Executed | undefined> {
  const verificationInputs = changedData(one);
  if (tests.length + verificationInputs.length === 0) return undefined;
  return one.rerun({ tree: 'candidate', tests, verificationInputs });
}

/** The change, and which of its files are tests although their names do not say so. */
export interface TestsOfChange {
  readonly patch: Pick<PatchSet, 'files'>;
  readonly tests?: readonly string[];
  /** New files that are tests by what they hold, or by their place. */
  readonly added?: readonly string[];
}

/** The paths that the base's tests need as the base has them. Empty if all test files are as at the base. Pure. */
export function baseTests({ patch: { files }, tests = [], added = [] }: TestsOfChange): readonly string[] {
  const changed = testsOfBase(files, (path) => isOfTests(path) || tests.includes(path));
  return changed.edited.length === 0 ? [] : [...new Set([...changed.added, ...added, ...changed.edited])];
}

/** Of those, the ones that are no product: `spec/fee.js` may be. */
export function sureTests(one: TestsOfChange): readonly string[] {
  const { tests = [] } = one;
  return baseTests(one).filter((path) => !isCode(path) || isSurelyOfTests(path) || tests.includes(path));
}

/**
 * The new test files of a change that touches more than tests. Such a file can put something else in the product's
 * place for every test of its process.
 */
export function newTestFiles({ patch: { files }, added = [] }: TestsOfChange): readonly string[] {
  if (files.every(({ path }) => isSurelyOfTests(path))) return [];
  const isProgram = ({ path, newMode }: PatchFile): boolean => isCode(path) || newMode === '100755';
  const programs = new Set(files.filter(isProgram).map(({ path }) => path));
  return [...new Set([...testsOfBase(files).added, ...added])].filter((path) => programs.has(path));
}

/**
 * The cases and data of `baseTests`. For other code in a test directory the path does not show whether it is a helper
 * or part of the product (`spec/fee.js`).
 */
export function baseCases(one: TestsOfChange): readonly string[] {
  return baseTests(one).filter((path) => isCollected(path) || isData(path));
}

/** Changed data files outside test directories that the base's tests read; all of them if that was not observed. */
export function changedData({ patch, reads }: Pick<ExecutedCheck, 'patch' | 'reads'>): readonly string[] {
  const isRead = reads && new Set(reads);
  return patch.files.flatMap((file) => {
    const { path, oldPath = path } = file;
    return mayChangeTests(file) && isRead?.has(oldPath) !== false ? [oldPath] : [];
  });
}

/** A declared case with the evidence that it asserts. */
export interface InventoryCase extends TestCase {
  readonly path: string;
  readonly language: Language;
  /** Counts of effective assertions, of assertions that never run, and of those with a swallowed failure. */
  readonly assertions: number;
  readonly unreached: number;
  readonly swallowed: number;
  /**
   * Marks on it or in it, and conditions around it, by which it may be left out; `elsewhere`: on other platforms alone.
   */
  readonly skips: number;
  readonly elsewhere: number;
  /** Marks by which it is expected to fail. */
  readonly inverted: number;
  /** Statements that hold such assertions. */
  readonly judging: number;
  /** The abstract class or exported function around the case. The case runs only if another file names it. */
  readonly needs: string | undefined;
  /** Names of functions that it calls. */
  called(): ReadonlySet<string>;
  /** Something is left of its body without what is never reached and assertions that can never fail. */
  saysAnything(): boolean;
  readonly source: ChangedSource;
}

/** What one side of a test file holds. */
export interface TestInventory {
  readonly path: string;
  readonly source: ChangedSource;
  readonly code: string;
  readonly outline: Outline | undefined;
  readonly cases: readonly InventoryCase[];
  /** Offsets of effective assertions: they run, and their failure reaches the runner. */
  readonly heard: readonly number[];
  /** Offsets of marks that are not on a case. They may leave out a group, or the whole file. */
  readonly skips: readonly number[];
  readonly focuses: readonly number[];
  /** Functions that are not cases. */
  helpers(): readonly HelperFunction[];
}

const maxHeadBytes = 600;
const maxBodyBytes = 20_000;

/** Reads one side of a test file. */
export function testInventory(source: ChangedSource, language: Language): TestInventory {
  const { cases: declared, code, shape } = readTests(source, language);
  const outline = isOutline(shape) ? shape : undefined;
  const dying = deadSpans(code, language, shape);
  const isDead = coverOf(dying);
  const isSwallowed = coverOf(swallowedSpans(code, language, shape));
  let known: string | undefined;
  const living = (): string => {
    known ??= withoutTrivial(blanked(code, dying));
    return known;
  };
  const taken = language === 'javascript' ? assertionCalls(source.text, code) : [];
  const asserted = [...new Set([...assertionsIn(code, language), ...taken])].sort((a, b) => a - b);
  const dead = asserted.filter(isDead);
  const reached = asserted.filter((at) => !isDead(at));
  const muted = reached.filter(isSwallowed);
  const heard = reached.filter((at) => !isSwallowed(at));
  const marks = skipMarks(code, source.text, language);
  const soft = marks.filter((at) => leavesOutElsewhere(source.text, at, language, outline));
  const isSoft = new Set(soft);
  const hard = marks.filter((at) => !isSoft.has(at));
  const inverting = expectsFailure(code, source.text, language);
  const statements = heard.map((at) => outline?.startOf(at) ?? code.lastIndexOf('\n', at));
  const onCases = new Set<number>();
  let before = 0;
  const cases = declared.map((one): InventoryCase => {
    const { end } = one;
    const head = headOf(code, one.start, before, language);
    before = Math.max(before, language === 'shell' ? one.start : end);
    for (const at of marks) if (at >= head && at < end) onCases.add(at);
    const around = conditionsAround(code, source.text, one.start, language, shape);
    return {
      ...one,
      isIdle: one.isIdle || isDead(one.start),
      needs: holderOf(one.start, outline),
      end,
      path: source.path,
      language,
      assertions: within(heard, one.start, end),
      judging: new Set(statements.slice(firstFrom(heard, one.start), firstFrom(heard, end))).size,
      unreached: within(dead, one.start, end),
      swallowed: within(muted, one.start, end),
      skips: within(hard, head, end) + around.skips,
      elsewhere: within(soft, head, end) + around.elsewhere,
      inverted: within(inverting, head, end),
      saysAnything() {
        const from = one.inside;
        if (from === undefined) return true;
        return /\b(?!(?:end|done|return|pass|void|None)\b)\w/.test(
          living().slice(from, Math.min(end, from + maxBodyBytes)),
        );
      },
      called() {
        return calledIn(living().slice(one.start, Math.min(end, one.start + maxBodyBytes)));
      },
      source,
    };
  });
  return {
    path: source.path,
    source,
    code,
    outline,
    heard,
    cases,
    skips: marks.filter(
      (at) =>
        !onCases.has(at) &&
        (language !== 'rust' || isOnTestModule(code, at) || source.text.startsWith('#!', at)),
    ),
    focuses: focusMarks(code, language),
    helpers: () => {
      const names = new Set(declared.map(({ name }) => name));
      return helperFunctions(code, language, shape, heard, names);
    },
  };
}

/** The same of a file that runs no tests: only what others call. */
export function withoutCases(inventory: TestInventory): TestInventory {
  return { ...inventory, cases: [], skips: [], focuses: [] };
}

/** Returns the name of the enclosing class or function that does not run by itself. */
function holderOf(start: number, outline: Outline | undefined): string | undefined {
  for (let at = outline?.around(start) ?? -1, depth = 0; outline && at >= 0 && depth < 60; depth += 1) {
    const bracket = outline.brackets[at];
    if (!bracket) break;
    const header = bracket.mark === '{' ? outline.header(bracket) : '';
    const found =
      /\babstract\s+(?:\w+\s+)*class\s+(\w{1,80})/.exec(header) ??
      /\b(?:export\s+(?:default\s+)?(?:async\s+)?function|export\s+(?:const|let)|exports\.)\s*(\w{1,80})/.exec(
        header,
      );
    if (found) return found[1];
    at = bracket.parent;
  }
  return undefined;
}

/** Start of the lines before a case's name that belong to the case. */
function headOf(code: string, start: number, before: number, language: Language): number {
  if (language === 'perl') return start;
  let head = code.lastIndexOf('\n', start - 1) + 1;
  const least = Math.max(before, start - maxHeadBytes, 0);
  if (language !== 'rust') return Math.min(start, Math.max(least, 0));
  while (head > least) {
    const above = code.lastIndexOf('\n', head - 2) + 1;
    if (!/^[ \t]*(?:#!?\[|$)/.test(code.slice(above, Math.min(head, above + 200)))) break;
    head = above;
    if (above === 0) break;
  }
  return Math.max(head, least);
}

function isOnTestModule(code: string, at: number): boolean {
  return /^#!?\[[^\n]{0,200}\]\s*(?:pub\s+)?mod\s+\w{0,40}tests?\b/.test(code.slice(at, at + 400));
}

/** Code without what never runs; every offset stays. */
function blanked(code: string, spans: readonly Span[]): string {
  if (spans.length === 0) return code;
  let from = 0;
  return [...spans]
    .sort((a, b) => a[0] - b[0])
    .flatMap(([start, end]) => {
      const parts = [
        code.slice(from, Math.max(from, start)),
        ' '.repeat(Math.max(0, end - Math.max(from, start))),
      ];
      from = Math.max(from, end);
      return parts;
    })
    .concat(code.slice(from))
    .join('');
}

/** Names before a bracket, a blank or the end of an argument: called, or passed as a callback. */
function calledIn(body: string): ReadonlySet<string> {
  return new Set([...body.matchAll(/\b([A-Za-z_]\w{0,79})[!?]?\s*[( ,)]/g)].map(([, name = '']) => name));
}

/** Number of sorted offsets in the range `[from, to)`. */
function within(offsets: readonly number[], from: number, to: number): number {
  return Math.max(0, firstFrom(offsets, to) - firstFrom(offsets, from));
}

function firstFrom(offsets: readonly number[], least: number): number {
  return firstIndex(offsets.length, (at) => (offsets[at] ?? 0) < least);
}

/** Assertion words in the test libraries of most languages, and common names of assertion helpers. */
const common = String.raw`\b(?!(?:expected|failed|failures?|checked|checkbox|asserted|expectation|checkout|mustache)\b)(?:assert|expect|should|verify|verifies|ensure|check|refute|must|fail)\w{0,60}[!?]?(?=\s*[(.!{]|[ \t]+[\w$@"'([!-])`;

/** Further assertion forms of a language. */
const further: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: [
    String.raw`\b(?:t|tt|st|is|sub|ctx|context)\.(?!(?:test|skip|skipIf|todo|plan|end|pass|comment|diagnostic|teardown|after|afterEach|before|beforeEach|context|signal|mock|name|testdir|log|timeout|setTimeout|title)\b)\w{1,40}\s*\(`,
    String.raw`\b(?:sinon|cy)\.\w{1,40}`,
    String.raw`\.(?:to|rejects|resolves|throws|not|calledOnce|calledWith|should)\b`,
    String.raw`\bthrow\s+new\b`,
    String.raw`\bdone\s*\(\s*\w`,
  ],
  python: [
    String.raw`\bself\.assert\w{1,60}`,
    String.raw`\b(?:raises|warns|approx)\s*\(`,
    String.raw`\braise\s+\w`,
  ],
  go: [
    String.raw`\b\w{1,20}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Equal|True|False|Nil|NoErr|Assert)\s*\(`,
    String.raw`\b(?:require|is|cmp|qt|be)\.\w{1,40}\s*\(`,
    String.raw`\bpanic\s*\(`,
    String.raw`//\s*Output:`,
  ],
  rust: [
    String.raw`\b\w{0,40}assert\w{0,40}!`,
    String.raw`\b(?:panic|prop_assume|matches|unreachable)!`,
    String.raw`\.(?:unwrap|expect|unwrap_err|expect_err)\s*\(`,
    String.raw`\bshould_panic\b`,
    String.raw`\?\s*;`,
  ],
  ruby: [String.raw`\b(?:is_expected|flunk|raise|wont_\w{1,40}|have_\w{1,40})\b`],
  php: [String.raw`(?:->|::)\s*(?:assert|expect|fail|should|to[A-Z])\w{0,60}`, String.raw`\bthrow\s+new\b`],
  java: [
    String.raw`\bthat\s*\(`,
    String.raw`\bthrow\s+new\b`,
    String.raw`@Test\s*\(\s*expected`,
    String.raw`\b(?:then|given)\s*\(`,
  ],
  kotlin: [String.raw`\b(?:shouldBe|should\w{1,40}|verify)\b`, String.raw`\bthrow\s+\w`],
  scala: [String.raw`\b(?:intercept|must_?\w{0,40}|shouldBe|should)\b`, '==='],
  csharp: [String.raw`\bShould\w{0,60}`, String.raw`\bthrow\s+new\b`, String.raw`\bVerify\w{0,40}`],
  c: [String.raw`\b(?:ASSERT|EXPECT|CHECK|REQUIRE|BOOST|TEST_ASSERT|ck_assert|FAIL|ADD_FAILURE)\w{0,60}`],
  swift: [String.raw`\b(?:XCTAssert|XCTFail|XCTUnwrap)\w{0,60}`, String.raw`#(?:expect|require)\b`],
  elixir: [String.raw`\b(?:assert|refute|flunk)\w{0,40}`],
  perl: [
    String.raw`\b(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|dies_ok|lives_ok|throws_ok|die|croak)\b`,
  ],
  shell: [
    String.raw`(?:^|[\s;&|({])(?:\[\[?\s|test\s|diff\s|cmp\s|grep\s|exit\s+[1-9]|return\s+[1-9]|false\b)`,
    String.raw`\$status\b`,
  ],
};

/** Plain assertions, by the last part of their name. */
const plain = String.raw`(?:(?:[Aa]ssert\w?[.:]{0,2}|t\.|self\.|this->|\$this->){0,2}(?:assert|ok|equals?|strictEqual|deepEqual|deepStrictEqual|is|same|true|isTrue|isOk|isFalse|Equal|True|False|AreEqual|IsTrue|That)|(?:self\.|this\.|Assertions\.)?assert(?:True|False|Equals?|Same|Null|IsNone|Is|_eq|_ne|_equal|_true)?!?|[A-Z]{0,7}_?(?:EXPECT|ASSERT)_(?:TRUE|FALSE|EQ)|CHECK|REQUIRE|XCTAssert(?:True|Equal)?)`;

const literal =
  String.raw`(?:true|True|TRUE|false|False|FALSE|nil|null|None|undefined|!0|!1|\d{1,9}|"\s*"|'\s*'|` +
  '`\\s*`)';

/** `load().expect("a price")` in Rust unwraps the value before it; it is not an assertion. */
const notCalledOn = String.raw`(?<!\)\s{0,80}\.)`;

/** Assertions without content: of constants, or of a value compared with itself. */
const trivial = [
  // `assert.ok(true)`, `assertEquals(1, 1)`, `assert_eq!(1, 1, "")`.
  String.raw`(?<![\w.])${plain}\s*\(\s*${literal}\s*(?:,\s*${literal}\s*){0,2}\)`,
  // `expect(true).toBe(true)`, `expect(1).to eq(1)`.
  String.raw`${notCalledOn}\bexpect\s*\(\s*${literal}\s*\)[^\n;}]{0,200}`,
  // `assert True`, `assert 1 == 1`.
  String.raw`\bassert\s+\(?${literal}(?:\s*==\s*${literal})?\)?(?=\s*(?:$|,|#|;))`,
  // `assert.equal(a, a)`, `assert a == a`.
  String.raw`(?<![\w.])${plain}\s*\(\s*(\w{1,60})\s*,\s*\1\s*[,)]`,
  String.raw`\bassert\s+(\w{1,60})\s*==\s*\2(?=\s*(?:$|,|#|;))`,
  // `expect(a).toBe(a)`, and `expect(a);` without a matcher.
  String.raw`${notCalledOn}\bexpect\s*\(\s*(\w{1,60})\s*\)\s*\.\s*\w{1,40}\s*\(\s*\3\s*\)`,
  String.raw`${notCalledOn}(?<!#)\bexpect\s*\((?:[^()\n]|\([^()\n]{0,200}\)){0,200}\)[ \t]*(?:;|$)`,
  // `assert.equal(add(1), add(1))`, `assert.ok(a || true)`.
  String.raw`(?<![\w.])${plain}\s*\(\s*(\w{1,60}\([^()\n]{0,100}\))\s*,\s*\4\s*[,)]`,
  String.raw`(?<![\w.])(?:assert|${plain}|self\.assertTrue)\s*\([^;\n]{0,200}(?:\|\||\bor\b)\s*(?:true|True|1)\s*\)`,
  // `assert a or True`, `assert "a"`, `assert [a == b]`, `assert (a == b, "text")`, `assert lambda: a`, `assert not
  // False`.
  String.raw`\bassert\s[^\n]{1,200}\bor\s+(?:True|1)\b[^\n]{0,80}`,
  String.raw`\bassert\s+(?:True|1)\s+or\b[^\n]{0,200}`,
  String.raw`\bassert\s+(?:not\s+(?:False|None|0)|lambda\b[^\n]{0,200}|"[^"\n]{0,200}"|'[^'\n]{0,200}')(?=\s*(?:$|,|#|;))`,
  String.raw`\bassert\s+(?:\[[^[\]\n]{1,200}\]|\{[^{}\n]{1,200}\})(?=\s*(?:$|,|#|;))`,
  String.raw`\bassert\s*\((?:[^()\n]|\([^()\n]{0,100}\)){1,200},\s*f?(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')\s*\)(?=[ \t]*(?:$|#|;))`,
  // `[ 1 = 1 ]`, `[ true ]`.
  String.raw`\[\[?[ \t]+(?:${literal}|true)(?:[ \t]+(?:==?|-eq)[ \t]+${literal})?[ \t]+\]`,
].join('|');

const forms = new Map<Language, RegExp>();

function formOf(language: Language): RegExp {
  const known = forms.get(language);
  if (known) return known;
  const made = new RegExp([common, ...(further[language] ?? [])].join('|'), 'gim');
  forms.set(language, made);
  return made;
}

const importLine =
  /^[ \t]*(?:import|from|use|using|require|#include|open)(?:[ \t]+["'\w<{*@]|["'<])[^\n]{0,500}|\brequire\s*\(\s*["'`]\s*["'`]\s*\)/gm;

/** The code with assertions that can never fail blanked, whatever language it is in. */
function withoutTrivial(code: string): string {
  return code.replace(new RegExp(trivial, 'gm'), (found) => found.replace(/[^\n]/g, ' '));
}

/** Offsets of the assertions in code (`test-text.ts`), in order, each once; those that can never fail are none. */
export function assertionsIn(code: string, language: Language): readonly number[] {
  const judging = withoutTrivial(code.replace(importLine, (found) => ' '.repeat(found.length)));
  return [...judging.matchAll(formOf(language))].map(({ index }) => index);
}
