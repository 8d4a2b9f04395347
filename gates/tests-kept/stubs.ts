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
import { readTests } from '../test-cases/test-cases.ts';
import { isTestFile, libraryNames } from '../test-cases/test-text.ts';
import type { ReportedLoss } from './tell-losses.ts';

/** Places in a changed file that newly disable assertions. */
export function stubsIn(input: RuleInput, file: PatchFile): readonly ReportedLoss[] {
  const { path } = file;
  if (file.changeType === 'delete') return [];
  const stubbed = (place: object): ReportedLoss => ({
    code: 'ASSERTIONS_STUBBED',
    severity: 'error',
    path,
    ...place,
  });
  if (shadowsTestLibrary(path)) return [stubbed({})];
  const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const source = language && candidateSource(input, file, language);
  if (!source || !language) return [];
  const isTest = isOfTests(path, language, source) || isSetUp.test(path);
  if (!isTest && !mayStub(source.text, language)) return [];
  const was = baseSource(input, file, language)?.text;
  const find = (text: string): readonly number[] => {
    const { code } = readTests({ ...source, text }, language);
    return assertionStubs(code, text, language, { isTest, ...(was === undefined ? {} : { before: was }) });
  };
  const now = find(source.text);
  const more = now.length - (was === undefined || now.length === 0 ? 0 : find(was).length);
  return now
    .filter((at) => source.isAdded(at))
    .slice(0, Math.max(0, more))
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
const forms: readonly RegExp[] = [
  new RegExp(`(?:^|/)node_modules/(?:${packages})/`),
  new RegExp(`(?:^|/)node_modules/(?:${packages})\\.[cm]?js$`),
  new RegExp(`(?:^|/)__mocks__/(?:${packages})(?:/|\\.[cm]?[jt]sx?$)`),
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

/** Whether a file at this path is found in place of a test library. */
function shadowsTestLibrary(path: string): boolean {
  return forms.some((form) => form.test(path));
}

const libraries = String.raw`(?:node:)?(?:assert(?:/strict)?|test)|chai|expect|should|@?jest(?:/\w+)?|vitest|tap|tape|ava|uvu(?:/assert)?|@tapjs/\w+|power-assert`;

/**
 * One way to disable assertions. `text`: the names are in a string, so the form is matched against the text, not the
 * code.
 */
interface Stub {
  readonly form: string;
  readonly text?: true;
  /** Honest where the file had no such word from a library before. */
  readonly replaces?: RegExp;
  /** Also wrong outside tests, because modules are shared. */
  readonly everywhere?: true;
}

/** Words of a library are called. */
const fromLibrary =
  /(?<![\w.$])(?:(?:it|test|describe)(?:\.\w{1,20})?\s*\(\s*["'`]|(?:assert|expect)\s*[.(])/;

const javascript: readonly Stub[] = [
  {
    text: true,
    form: String.raw`\b(?:jest|vi|vitest|td|mock|t|tap)\s*\.\s*(?:mock|doMock|unstable_mockModule|setMock|replace|replaceEsm|module|mockAll)\s*\(\s*["'${'`'}](?:${libraries})["'${'`'}]`,
  },
  {
    everywhere: true,
    text: true,
    form: String.raw`\brequire\.cache\b[^\n]{0,200}\b(?:assert|chai|expect|jest|vitest|tap)\b`,
  },
  {
    text: true,
    form: String.raw`(?:\bfrom|\brequire\s*\()\s*["'${'`'}]\.{1,2}/(?:[\w.-]+/){0,8}(?:node_assert|assert|chai|expect|vitest|jest|tap|tape|ava)(?:\.[cm]?[jt]s)?["'${'`'}]`,
    replaces:
      /(?:from|require\s*\()\s*["'`](?:node:)?(?:assert(?:\/strict)?|chai|expect|vitest|@jest\/globals|tap|tape|ava)["'`]/,
  },
  {
    everywhere: true,
    form: String.raw`\b(?:globalThis|global|window|self)\s*\.\s*(?:expect|assert|it|test|describe|should)\s*=(?!=)`,
  },
  {
    everywhere: true,
    form: String.raw`(?<![\w.$])(?:assert|expect|chai|should)(?!\.config\b)(?:\.\w{1,40}){1,4}\s*=(?![=>])`,
  },
  {
    form: String.raw`(?<![\w.$])(?<!\b(?:const|let|var)\s)(?:assert|expect|describe|it|test)\s*=(?![=>])(?!\s*(?:require|await\s+import|chai|jest|base|t\b))`,
    replaces: fromLibrary,
  },
  {
    form: String.raw`\b(?:t|test|tap)\.(?:equal|ok|same|is|deepEqual|strictEqual|not|throws|rejects|match|fail|true)\s*=(?!=)`,
  },
  {
    everywhere: true,
    form: String.raw`\bObject\.(?:assign|defineProperty|defineProperties|setPrototypeOf)\s*\(\s*(?:assert|expect|chai|jestExpect)\b`,
  },
  {
    everywhere: true,
    text: true,
    form: String.raw`\bObject\.defineProperty\s*\(\s*(?:globalThis|global|window)\s*,\s*["'](?:assert|expect|it|test|describe)["']`,
  },
  { form: String.raw`\bchai\.(?:Assertion|assert|expect|use)\b[^\n]{0,60}(?:overwrite\w{1,20}|prototype)` },
  { everywhere: true, form: String.raw`\bAssertion(?:Error)?\.prototype\b` },
  {
    form: String.raw`\bfunction\s+(?:assert|expect|it|test|describe)\s*\(|\b(?:const|let|var)\s+(?:assert|expect|it|test|describe)\s*=\s*(?:async\s*)?(?:\(|\w{0,20}\s*=>|function\b|new\s+Proxy\b)|\b(?:const|let|var)\s+assert\s*=\s*\{`,
    replaces: fromLibrary,
  },
  {
    text: true,
    form: String.raw`\bprocess\s*\.\s*(?:on|once|prependListener)\s*\(\s*["'](?:exit|beforeExit|uncaughtException|unhandledRejection)["'][^\n]{0,200}(?:exitCode|process\.exit|=>\s*\{?\s*\}?\s*\))`,
  },
  { form: String.raw`\bprocess\.(?:exit|reallyExit)\s*=(?!=)` },
];

const python: readonly Stub[] = [
  {
    everywhere: true,
    form: String.raw`\b(?:unittest\.)?(?:TestCase|TestResult|TextTestRunner|mock)\.(?:assert\w{1,60}|fail\w{0,30}|run|_callTestMethod|addFailure|addError|wasSuccessful)\s*=(?!=)`,
  },
  {
    everywhere: true,
    text: true,
    form: String.raw`\bsetattr\s*\(\s*(?:unittest|pytest|\w{0,40}TestCase|builtins|_pytest)\b`,
  },
  {
    text: true,
    form: String.raw`\b(?:patch|patch\.object|monkeypatch\.setattr)\s*\(\s*["']?(?:unittest|pytest|_pytest|builtins\.(?:AssertionError|assert)|\w{0,40}TestCase)\b`,
  },
  {
    form: String.raw`\bdef\s+pytest_(?:collection_modifyitems|collection_finish|itemcollected|ignore_collect|collect_file|pycollect_\w{1,30}|runtest_\w{1,30}|pyfunc_call|sessionfinish|cmdline_main|deselected|load_initial_conftests|make_collect_report)\b`,
  },
  { form: String.raw`\.(?:outcome|exitstatus)\s*=(?!=)` },
  {
    everywhere: true,
    text: true,
    form: String.raw`\bsys\.modules\s*\[\s*["'](?:pytest|unittest|_pytest|assertpy|hamcrest|numpy\.testing)`,
  },
  { everywhere: true, form: String.raw`\b(?:AssertionError|builtins\.\w{1,40}|__builtins__)\s*=(?!=)` },
  {
    form: String.raw`\bdef\s+(?:assert(?:Equal|True|False|In|Raises|Is|IsNone|NotEqual|AlmostEqual|DictEqual|ListEqual|Greater|Less))\s*\(`,
  },
  { form: String.raw`\bsys\.excepthook\s*=|\batexit\.register\b` },
];

const table: Readonly<Partial<Record<Language, readonly Stub[]>>> = {
  javascript,
  python,
  ruby: [
    { form: String.raw`\b(?:module|class)\s+(?:Minitest|RSpec|Test::Unit)(?:::\w{1,40}){0,4}\s*$` },
    {
      form: String.raw`\bdef\s+(?:self\.)?(?:assert(?:_equal|_nil|_raises|_in_delta|_includes|_match|_empty|_same)?|refute(?:_\w{1,20})?|expect|should)\b(?![\w?!])`,
    },
    {
      text: true,
      form: String.raw`\b(?:define_method|alias_method|alias|undef_method|remove_method)\s*\(?\s*:(?:assert|refute|expect|should)\w{0,30}`,
    },
    { form: String.raw`\bat_exit\b` },
  ],
  go: [
    { form: String.raw`\bfunc\s+TestMain\s*\((?![^}]{0,2000}\.Run\s*\()` },
    { form: String.raw`\bos\.Exit\s*\(\s*0\s*\)` },
  ],
  java: [
    {
      form: String.raw`\bpackage\s+(?:org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest)\b`,
    },
    { form: String.raw`\bclass\s+(?:Assert|Assertions|Assume|MatcherAssert)\b` },
    {
      form: String.raw`\b(?:static\s+)?void\s+assert(?:Equals|True|False|Null|NotNull|Same|Throws|That|ArrayEquals)\s*\(`,
    },
    {
      form: String.raw`\bimplements\s+(?:\w{1,40}\s*,\s*)?(?:InvocationInterceptor|TestExecutionExceptionHandler|ExecutionCondition)\b`,
    },
  ],
  kotlin: [
    { form: String.raw`\bfun\s+assert(?:Equals|True|False|Null|NotNull|Same|Failures|FailsWith)\s*\(` },
    { form: String.raw`\bpackage\s+(?:org\.junit|kotlin\.test|io\.kotest)\b` },
  ],
  scala: [
    { form: String.raw`\bdef\s+(?:assert|assertResult|intercept)\s*[([]` },
    { form: String.raw`\bpackage\s+org\.scalatest\b` },
  ],
  csharp: [
    {
      form: String.raw`\bnamespace\s+(?:Xunit|NUnit\.Framework|Microsoft\.VisualStudio\.TestTools|FluentAssertions|Shouldly)\b`,
    },
    { form: String.raw`\bclass\s+Assert\b` },
  ],
  rust: [
    { form: String.raw`\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|debug_assert|panic|matches)\b` },
    { form: String.raw`\bset_hook\s*\(` },
  ],
  c: [
    {
      form: String.raw`#\s*(?:define|undef)\s+(?:assert|NDEBUG|(?:EXPECT|ASSERT|CHECK|REQUIRE|BOOST_CHECK|ck_assert|TEST)(?:_\w{1,40})?)\b`,
    },
  ],
  php: [
    {
      form: String.raw`\bfunction\s+(?:assert(?:Equals|Same|True|False|Null|Count|Contains|That|InstanceOf)|expectException)\s*\(`,
    },
    { form: String.raw`\bnamespace\s+(?:PHPUnit|Pest)\b` },
    { form: String.raw`\bregister_shutdown_function\b` },
  ],
  perl: [
    { form: String.raw`\bsub\s+(?:ok|is|isnt|like|is_deeply|cmp_ok|pass|fail|done_testing)\b` },
    { form: String.raw`\*(?:\w{1,40}::){0,4}(?:ok|is|is_deeply|like|cmp_ok)\s*=` },
  ],
  swift: [{ form: String.raw`\bfunc\s+(?:XCTAssert\w{0,40}|XCTFail)\s*[(<]` }],
  elixir: [
    { form: String.raw`\bdef(?:macro)?\s+(?:assert|refute)\b` },
    { form: String.raw`\bdefmodule\s+ExUnit\b` },
  ],
  shell: [
    {
      form: String.raw`(?:^|[;&])[ \t]*(?:function[ \t]+)?(?:assert\w{0,40}|refute\w{0,40}|fail|run|test|\[)[ \t]*\(\)[ \t]*\{[ \t\n]*(?::|true|return(?:[ \t]+0)?|echo[^\n;}]{0,80})[ \t]*[;\n]`,
    },
    { form: String.raw`\balias\s+(?:assert\w{0,40}|test|grep|diff)=` },
    { form: String.raw`^[ \t]*set[ \t]+\+e\b` },
  ],
};

/**
 * Without one of these words, code outside tests cannot affect assertions. For JavaScript they include library names.
 */
const evidence: Readonly<Partial<Record<Language, RegExp>>> = {
  javascript:
    /require\.cache|global|window|self|[aA]ssert|[eE]xpect|chai|should|["'`](?:node:|bun:)?test["'`]|["'`@](?:unexpected|vitest|mocha|jasmine|ava|tap|zora|qunit|earl|sinon|cypress|uvu|jest|playwright|japa|hapi|open-wc|std)|deno\.land/,
  python: /Test(?:Case|Result)|TextTestRunner|mock|setattr|sys\.modules|AssertionError|builtins/,
};

/** Whether code outside tests can contain a stub of assertions. Fast; it may return false positives. */
export function mayStub(text: string, language: Language): boolean {
  return evidence[language]?.test(text) ?? false;
}

/**
 * Offsets where code replaces, silences or fakes assertions, in order. `before`: the base version of the file.
 * Outside tests, only access to shared modules counts.
 */
export function assertionStubs(
  code: string,
  text: string,
  language: Language,
  { before, isTest }: { readonly before?: string; readonly isTest: boolean },
): readonly number[] {
  const offsets: number[] = [];
  for (const { form, text: isText, replaces, everywhere } of table[language] ?? []) {
    if (!isTest && !everywhere) continue;
    if (replaces && (before === undefined || !replaces.test(before))) continue;
    // A match inside a comment or a string is not code.
    for (const { index } of (isText ? text : code).matchAll(new RegExp(form, 'gm')))
      if (/\S/.test(code[index] ?? ' ') || /\S/.test(code.slice(index, index + 3))) offsets.push(index);
  }
  if (language === 'javascript') offsets.push(...writesToLibrary(code, text));
  return [...new Set(offsets)].sort((a, b) => a - b);
}

/**
 * Offsets where code overwrites an import from a test library, under any name: one member, the whole object, or with
 * a mock.
 */
function writesToLibrary(code: string, text: string): readonly number[] {
  const names = [...libraryNames(text, code)].filter((name) => !name.includes('$')).slice(0, 60);
  if (names.length === 0) return [];
  const any = `(?:${names.join('|')})`;
  const member = String.raw`(?:\.(?!config\b|timeout\b)\w{1,40}|\[[^\]\n]{0,80}\])`;
  const form = [
    String.raw`(?<![\w.$])${any}${member}{1,4}\s*=(?![=>])`,
    String.raw`\b(?:Object|Reflect)\.(?:assign|defineProperty|defineProperties|setPrototypeOf|set|deleteProperty)\s*\(\s*${any}\b`,
    String.raw`\b(?:method|stub|spyOn|replace|fake|getter|setter|property)\s*\(\s*${any}(?:\.\w{1,40}){0,2}\s*,`,
    String.raw`\bdelete\s+${any}${member}|\bnew\s+Proxy\s*\(\s*${any}\b`,
  ].join('|');
  return [...code.matchAll(new RegExp(form, 'g'))].map(({ index }) => index);
}
