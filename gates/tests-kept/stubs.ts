/* Finds code that disables assertions. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import type { Language } from '../../readers/source/language.ts';
import {
  baseSource,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { readCode, readTests } from '../test-cases/read-tests.ts';
import { isTestFile, libraryNames } from '../test-cases/test-text.ts';
import type { ReportedLoss } from './tell-losses.ts';

/** Places in a changed file that newly disable assertions. */
export function stubsIn(input: RuleInput, file: PatchFile): readonly ReportedLoss[] {
  const { path } = file;
  const stubbed = (place: object): ReportedLoss => ({
    code: 'ASSERTIONS_STUBBED',
    severity: 'error',
    path,
    ...place,
  });
  if (file.changeType === 'delete') return [];
  if (replaceLibrary.some((form) => form.test(path))) return [stubbed({})];
  const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const source = language && candidateSource(input, file, language);
  if (!source || !language) return [];
  const isTest = isOfTests(path, language, source) || isSetUp.test(path);
  if (!isTest && !mayStub(source.text, language)) return [];
  const was = baseSource(input, file, language)?.text;
  const find = (text: string): readonly number[] =>
    assertionStubs(readCode({ ...source, text }, language).code, text, language, isTest, was);
  const now = find(source.text);
  const before = was === undefined || now.length === 0 ? 0 : find(was).length;
  return now
    .filter((at) => source.isAdded(at))
    .slice(0, Math.max(0, now.length - before))
    .map((at) => stubbed(source.positionOf(at)));
}

/** Files that tests load before they run. */
export const isSetUp =
  /(?:^|\/)(?:conftest\.py|(?:test|spec|jest|vitest|mocha|karma|rails)?[._-]?(?:setup|set-up|set_up|helper|bootstrap)[\w-]{0,20}(?:\.[\w-]{1,20}){1,3})$/i;

/** Rust keeps tests beside the code. */
function isOfTests(path: string, language: Language, source: ChangedSource): boolean {
  if (language !== 'rust') return isTestFile(path, language);
  return /(?:^|\/)(?:tests|benches)\//.test(path) || readTests(source, language).cases.length > 0;
}

/** Packages that provide assertions to tests. */
const packages =
  'assert|chai|expect|should|power-assert|unexpected|jest|jest-circus|vitest|mocha|jasmine|jasmine-core|ava|tap|tape|uvu|zora|qunit|sinon|node-tap|supertest|@jest/[\\w-]+|@vitest/[\\w-]+|@tapjs/[\\w-]+|@playwright/test|@testing-library/[\\w-]+|bun:test|node:test|node:assert';

/** Files that replace a test library, or that run before every test. */
const replaceLibrary: readonly RegExp[] = [
  new RegExp(`(?:^|/)(?:node_modules|__mocks__)/(?:${packages})(?:/|\\.[cm]?[jt]sx?$)`),
  /(?:^|\/)(?:pytest|unittest|nose|nose2|assertpy|hamcrest|_pytest|pluggy|doctest)(?:\.py$|\/__init__\.py$)/,
  /(?:^|\/)(?:sitecustomize|usercustomize)\.py$|\.pth$/,
  /(?:^|\/)lib\/(?:minitest|rspec|rspec\/\w+|minitest\/\w+|test\/unit(?:\/\w+)?)\.rb$/,
  /(?:^|\/)vendor\/(?:github\.com\/stretchr\/testify|gotest\.tools|github\.com\/google\/go-cmp|phpunit\/|pestphp\/)/,
  /(?:^|\/)(?:org\/junit|junit\/framework|org\/testng|org\/assertj|org\/hamcrest|io\/kotest|kotlin\/test|org\/scalatest)\/(?:[\w-]+\/){0,8}[\w-]+\.(?:java|kt|scala|groovy)$/,
  /(?:^|\/)PHPUnit\/Framework\/\w+\.php$/,
  /(?:^|\/)Test\/(?:More|Simple|Builder|Most|Deep)\.pm$/,
  /(?:^|\/)(?:gtest|gmock|catch2|doctest|boost\/test)\/[\w/.-]+\.h(?:pp)?$|(?:^|\/)(?:catch|doctest)\.hpp$/,
  /(?:^|\/)bats-(?:assert|support|core)\//,
];

/**
 * Forms by which assertions are disabled, over text. `everywhere`: also outside of tests, because modules are shared.
 * `replaces`, `replacesLibrary`: honest where the file called no such word before, or took none from a library.
 */
interface Stubs {
  readonly tests?: RegExp;
  readonly everywhere?: RegExp;
  readonly replaces?: RegExp;
  readonly replacesLibrary?: RegExp;
}

const fromLibrary =
  /(?<![\w.$])(?:(?:it|test|describe)(?:\.\w{1,20})?\s*\(\s*["'`]|(?:assert|expect)\s*[.(])/;
const importsLibrary =
  /(?:from|require\s*\()\s*["'`](?:node:)?(?:assert(?:\/strict)?|chai|expect|vitest|@jest\/globals|tap|tape|ava)["'`]/;

const names = String.raw`assert(?:Equals|Same|True|False|Null|NotNull|Throws|That|ArrayEquals|Count|Contains|InstanceOf|Failures|FailsWith|Result|_(?:eq|ne|equal|nil|raises|in_delta|includes|match|empty|same))?|refute(?:_\w{1,20})?|expect|should|intercept|expectException|XCTAssert\w{0,40}|XCTFail`;
const libraries = String.raw`org\.(?:junit|testng|assertj|hamcrest|scalatest)|junit\.framework|kotlin\.test|io\.kotest|Xunit|NUnit\.Framework|Microsoft\.VisualStudio\.TestTools|FluentAssertions|Shouldly|PHPUnit|Pest|ExUnit|Assert(?:ions)?|Assume|MatcherAssert`;
/** Languages other than those of the table: an assertion of one's own, a library's place, and hooks of its runner. */
const ofOthers = new RegExp(
  [
    String.raw`\b(?:def|defmacro|fun|func|function|void)\s+(?:self\.)?(?:${names})\b(?![\w?!])|\b(?:package|namespace|class|defmodule)\s+(?:${libraries})\b|\b(?:module|class)\s+(?:Minitest|RSpec|Test::Unit)(?:::\w{1,40}){0,4}\s*$`,
    String.raw`\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|debug_assert|panic|matches)\b|#\s*(?:define|undef)\s+(?:assert|NDEBUG|(?:EXPECT|ASSERT|CHECK|REQUIRE|BOOST_CHECK|ck_assert|TEST)(?:_\w{1,40})?)\b`,
    String.raw`\bat_exit\b|\bfunc\s+TestMain\s*\((?![^}]{0,2000}\.Run\s*\()|\bos\.Exit\s*\(\s*0\s*\)|\bset_hook\s*\(|\bregister_shutdown_function\b|\bimplements\s+(?:\w{1,40}\s*,\s*)?(?:InvocationInterceptor|TestExecutionExceptionHandler|ExecutionCondition)\b`,
    String.raw`\b(?:define_method|alias_method|alias|undef_method|remove_method)\s*\(?\s*:(?:assert|refute|expect|should)|\bsub\s+(?:ok|is|isnt|like|is_deeply|cmp_ok|pass|fail|done_testing)\b|\*(?:\w{1,40}::){0,4}(?:ok|is|is_deeply|like|cmp_ok)\s*=`,
    String.raw`(?:^|[;&])[ \t]*(?:function[ \t]+)?(?:assert\w{0,40}|refute\w{0,40}|fail|run|test|\[)[ \t]*\(\)[ \t]*\{[ \t\n]*(?::|true|return(?:[ \t]+0)?|echo[^\n;}]{0,80})[ \t]*[;\n]|\balias\s+(?:assert\w{0,40}|test|grep|diff)=|^[ \t]*set[ \t]+\+e\b`,
  ].join('|'),
  'gm',
);

const table: Readonly<Partial<Record<Language, Stubs>>> = {
  javascript: {
    tests:
      /\b(?:t|test|tap)\.(?:equal|ok|same|is|deepEqual|strictEqual|not|throws|rejects|match|fail|true)\s*=(?!=)|\bchai\.(?:Assertion|assert|expect|use)\b[^\n]{0,60}(?:overwrite\w{1,20}|prototype)|\bprocess\.(?:exit|reallyExit)\s*=(?!=)|\b(?:jest|vi|vitest|td|mock|t|tap)\s*\.\s*(?:mock|doMock|unstable_mockModule|setMock|replace|replaceEsm|module|mockAll)\s*\(\s*["'`](?:(?:node:)?(?:assert(?:\/strict)?|test)|chai|expect|should|@?jest(?:\/\w+)?|vitest|tap|tape|ava|uvu(?:\/assert)?|@tapjs\/\w+|power-assert)["'`]|\bprocess\s*\.\s*(?:on|once|prependListener)\s*\(\s*["'](?:exit|beforeExit|uncaughtException|unhandledRejection)["'][^\n]{0,200}(?:exitCode|process\.exit|=>\s*\{?\s*\}?\s*\))/gm,
    everywhere:
      /\b(?:globalThis|global|window|self)\s*\.\s*(?:expect|assert|it|test|describe|should)\s*=(?!=)|(?<![\w.$])(?:assert|expect|chai|should)(?!\.config\b)(?:\.\w{1,40}){1,4}\s*=(?![=>])|\bObject\.(?:assign|defineProperty|defineProperties|setPrototypeOf)\s*\(\s*(?:assert|expect|chai|jestExpect)\b|\bAssertion(?:Error)?\.prototype\b|\brequire\.cache\b[^\n]{0,200}\b(?:assert|chai|expect|jest|vitest|tap)\b|\bObject\.defineProperty\s*\(\s*(?:globalThis|global|window)\s*,\s*["'](?:assert|expect|it|test|describe)["']/gm,
    replaces:
      /(?<![\w.$])(?<!\b(?:const|let|var)\s)(?:assert|expect|describe|it|test)\s*=(?![=>])(?!\s*(?:require|await\s+import|chai|jest|base|t\b))|\bfunction\s+(?:assert|expect|it|test|describe)\s*\(|\b(?:const|let|var)\s+(?:assert|expect|it|test|describe)\s*=\s*(?:async\s*)?(?:\(|\w{0,20}\s*=>|function\b|new\s+Proxy\b)|\b(?:const|let|var)\s+assert\s*=\s*\{/gm,
    replacesLibrary:
      /(?:\bfrom|\brequire\s*\()\s*["'`]\.{1,2}\/(?:[\w.-]+\/){0,8}(?:node_assert|assert|chai|expect|vitest|jest|tap|tape|ava)(?:\.[cm]?[jt]s)?["'`]/gm,
  },
  python: {
    tests:
      /\bdef\s+pytest_(?:collection_modifyitems|collection_finish|itemcollected|ignore_collect|collect_file|pycollect_\w{1,30}|runtest_\w{1,30}|pyfunc_call|sessionfinish|cmdline_main|deselected|load_initial_conftests|make_collect_report)\b|\.(?:outcome|exitstatus)\s*=(?!=)|\bdef\s+(?:assert(?:Equal|True|False|In|Raises|Is|IsNone|NotEqual|AlmostEqual|DictEqual|ListEqual|Greater|Less))\s*\(|\bsys\.excepthook\s*=|\batexit\.register\b|\b(?:patch|patch\.object|monkeypatch\.setattr)\s*\(\s*["']?(?:unittest|pytest|_pytest|builtins\.(?:AssertionError|assert)|\w{0,40}TestCase)\b/gm,
    everywhere:
      /\b(?:unittest\.)?(?:TestCase|TestResult|TextTestRunner|mock)\.(?:assert\w{1,60}|fail\w{0,30}|run|_callTestMethod|addFailure|addError|wasSuccessful)\s*=(?!=)|\b(?:AssertionError|builtins\.\w{1,40}|__builtins__)\s*=(?!=)|\bsetattr\s*\(\s*(?:unittest|pytest|\w{0,40}TestCase|builtins|_pytest)\b|\bsys\.modules\s*\[\s*["'](?:pytest|unittest|_pytest|assertpy|hamcrest|numpy\.testing)/gm,
  },
};

/** Whether code outside of tests may contain a stub of assertions. It may return false positives. */
export function mayStub(text: string, language: Language): boolean {
  const { everywhere } = table[language] ?? {};
  return (
    (everywhere !== undefined && text.search(everywhere) >= 0) ||
    (language === 'javascript' && libraryNames(text, text).length > 0)
  );
}

/** Writes to what comes from a test library, under any name: a member, the object, a mock in its place. */
function writesTo(names: readonly string[]): RegExp {
  const any = `(?:${names.slice(0, 60).join('|')})`;
  const member = String.raw`(?:\.(?!config\b|timeout\b)\w{1,40}|\[[^\]\n]{0,80}\])`;
  const calls = String.raw`(?:Object|Reflect)\.\w{3,20}|method|stub|spyOn|replace|fake|getter|setter|property|new\s+Proxy`;
  return new RegExp(
    String.raw`(?<![\w.$])${any}${member}{1,4}\s*=(?![=>])|\b(?:${calls})\s*\(\s*${any}\b|\bdelete\s+${any}${member}`,
    'g',
  );
}

/** Offsets where code replaces, silences or fakes assertions, in order. `before`: the base version of the file. */
export function assertionStubs(
  code: string,
  text: string,
  language: Language,
  isTest: boolean,
  before = '',
): readonly number[] {
  const { tests, everywhere, replaces, replacesLibrary } = table[language] ?? { tests: ofOthers };
  const taken = language === 'javascript' ? libraryNames(text, code) : [];
  const forms = [
    everywhere,
    taken.length > 0 ? writesTo(taken) : undefined,
    ...(isTest ? [tests] : []),
    isTest && fromLibrary.test(before) ? replaces : undefined,
    isTest && importsLibrary.test(before) ? replacesLibrary : undefined,
  ];
  const offsets = forms
    .flatMap((form) => (form ? [...text.matchAll(form)] : []))
    .map(({ index }) => index)
    // What is in a comment or a string is not code.
    .filter((at) => /\S/.test(code.slice(at, at + 3)));
  return [...new Set(offsets)].sort((a, b) => a - b);
}
