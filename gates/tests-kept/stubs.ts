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

/** Forms by which assertions are disabled, over code. */
interface Stubs {
  readonly code?: readonly RegExp[];
  /** The names are in a string, so the form is matched against the text. */
  readonly text?: readonly RegExp[];
  /** Also wrong outside tests, because modules are shared. */
  readonly everywhere?: readonly RegExp[];
  readonly everywhereText?: readonly RegExp[];
  /** Honest where the file had no such word from a library before, the second form. */
  readonly replaces?: readonly (readonly [form: RegExp, word: RegExp])[];
  readonly replacesText?: readonly (readonly [form: RegExp, word: RegExp])[];
}

/** Words of a library are called. */
const fromLibrary =
  /(?<![\w.$])(?:(?:it|test|describe)(?:\.\w{1,20})?\s*\(\s*["'`]|(?:assert|expect)\s*[.(])/;

const table: Readonly<Partial<Record<Language, Stubs>>> = {
  javascript: {
    text: [
      new RegExp(
        String.raw`\b(?:jest|vi|vitest|td|mock|t|tap)\s*\.\s*(?:mock|doMock|unstable_mockModule|setMock|replace|replaceEsm|module|mockAll)\s*\(\s*["'${'`'}](?:${libraries})["'${'`'}]`,
        'gm',
      ),
      /\bprocess\s*\.\s*(?:on|once|prependListener)\s*\(\s*["'](?:exit|beforeExit|uncaughtException|unhandledRejection)["'][^\n]{0,200}(?:exitCode|process\.exit|=>\s*\{?\s*\}?\s*\))/gm,
    ],
    everywhereText: [
      /\brequire\.cache\b[^\n]{0,200}\b(?:assert|chai|expect|jest|vitest|tap)\b/gm,
      /\bObject\.defineProperty\s*\(\s*(?:globalThis|global|window)\s*,\s*["'](?:assert|expect|it|test|describe)["']/gm,
    ],
    replacesText: [
      [
        /(?:\bfrom|\brequire\s*\()\s*["'`]\.{1,2}\/(?:[\w.-]+\/){0,8}(?:node_assert|assert|chai|expect|vitest|jest|tap|tape|ava)(?:\.[cm]?[jt]s)?["'`]/gm,
        /(?:from|require\s*\()\s*["'`](?:node:)?(?:assert(?:\/strict)?|chai|expect|vitest|@jest\/globals|tap|tape|ava)["'`]/,
      ],
    ],
    everywhere: [
      /\b(?:globalThis|global|window|self)\s*\.\s*(?:expect|assert|it|test|describe|should)\s*=(?!=)/gm,
      /(?<![\w.$])(?:assert|expect|chai|should)(?!\.config\b)(?:\.\w{1,40}){1,4}\s*=(?![=>])/gm,
      /\bObject\.(?:assign|defineProperty|defineProperties|setPrototypeOf)\s*\(\s*(?:assert|expect|chai|jestExpect)\b/gm,
      /\bAssertion(?:Error)?\.prototype\b/gm,
    ],
    replaces: [
      [
        /(?<![\w.$])(?<!\b(?:const|let|var)\s)(?:assert|expect|describe|it|test)\s*=(?![=>])(?!\s*(?:require|await\s+import|chai|jest|base|t\b))/gm,
        fromLibrary,
      ],
      [
        /\bfunction\s+(?:assert|expect|it|test|describe)\s*\(|\b(?:const|let|var)\s+(?:assert|expect|it|test|describe)\s*=\s*(?:async\s*)?(?:\(|\w{0,20}\s*=>|function\b|new\s+Proxy\b)|\b(?:const|let|var)\s+assert\s*=\s*\{/gm,
        fromLibrary,
      ],
    ],
    code: [
      /\b(?:t|test|tap)\.(?:equal|ok|same|is|deepEqual|strictEqual|not|throws|rejects|match|fail|true)\s*=(?!=)/gm,
      /\bchai\.(?:Assertion|assert|expect|use)\b[^\n]{0,60}(?:overwrite\w{1,20}|prototype)/gm,
      /\bprocess\.(?:exit|reallyExit)\s*=(?!=)/gm,
    ],
  },
  python: {
    everywhere: [
      /\b(?:unittest\.)?(?:TestCase|TestResult|TextTestRunner|mock)\.(?:assert\w{1,60}|fail\w{0,30}|run|_callTestMethod|addFailure|addError|wasSuccessful)\s*=(?!=)/gm,
      /\b(?:AssertionError|builtins\.\w{1,40}|__builtins__)\s*=(?!=)/gm,
    ],
    everywhereText: [
      /\bsetattr\s*\(\s*(?:unittest|pytest|\w{0,40}TestCase|builtins|_pytest)\b/gm,
      /\bsys\.modules\s*\[\s*["'](?:pytest|unittest|_pytest|assertpy|hamcrest|numpy\.testing)/gm,
    ],
    text: [
      /\b(?:patch|patch\.object|monkeypatch\.setattr)\s*\(\s*["']?(?:unittest|pytest|_pytest|builtins\.(?:AssertionError|assert)|\w{0,40}TestCase)\b/gm,
    ],
    code: [
      /\bdef\s+pytest_(?:collection_modifyitems|collection_finish|itemcollected|ignore_collect|collect_file|pycollect_\w{1,30}|runtest_\w{1,30}|pyfunc_call|sessionfinish|cmdline_main|deselected|load_initial_conftests|make_collect_report)\b/gm,
      /\.(?:outcome|exitstatus)\s*=(?!=)/gm,
      /\bdef\s+(?:assert(?:Equal|True|False|In|Raises|Is|IsNone|NotEqual|AlmostEqual|DictEqual|ListEqual|Greater|Less))\s*\(/gm,
      /\bsys\.excepthook\s*=|\batexit\.register\b/gm,
    ],
  },
  ruby: {
    code: [
      /\b(?:module|class)\s+(?:Minitest|RSpec|Test::Unit)(?:::\w{1,40}){0,4}\s*$/gm,
      /\bdef\s+(?:self\.)?(?:assert(?:_equal|_nil|_raises|_in_delta|_includes|_match|_empty|_same)?|refute(?:_\w{1,20})?|expect|should)\b(?![\w?!])/gm,
      /\bat_exit\b/gm,
    ],
    text: [
      /\b(?:define_method|alias_method|alias|undef_method|remove_method)\s*\(?\s*:(?:assert|refute|expect|should)\w{0,30}/gm,
    ],
  },
  go: {
    code: [/\bfunc\s+TestMain\s*\((?![^}]{0,2000}\.Run\s*\()/gm, /\bos\.Exit\s*\(\s*0\s*\)/gm],
  },
  java: {
    code: [
      /\bpackage\s+(?:org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest)\b/gm,
      /\bclass\s+(?:Assert|Assertions|Assume|MatcherAssert)\b/gm,
      /\b(?:static\s+)?void\s+assert(?:Equals|True|False|Null|NotNull|Same|Throws|That|ArrayEquals)\s*\(/gm,
      /\bimplements\s+(?:\w{1,40}\s*,\s*)?(?:InvocationInterceptor|TestExecutionExceptionHandler|ExecutionCondition)\b/gm,
    ],
  },
  kotlin: {
    code: [
      /\bfun\s+assert(?:Equals|True|False|Null|NotNull|Same|Failures|FailsWith)\s*\(/gm,
      /\bpackage\s+(?:org\.junit|kotlin\.test|io\.kotest)\b/gm,
    ],
  },
  scala: {
    code: [/\bdef\s+(?:assert|assertResult|intercept)\s*[([]/gm, /\bpackage\s+org\.scalatest\b/gm],
  },
  csharp: {
    code: [
      /\bnamespace\s+(?:Xunit|NUnit\.Framework|Microsoft\.VisualStudio\.TestTools|FluentAssertions|Shouldly)\b/gm,
      /\bclass\s+Assert\b/gm,
    ],
  },
  rust: {
    code: [
      /\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|debug_assert|panic|matches)\b/gm,
      /\bset_hook\s*\(/gm,
    ],
  },
  c: {
    code: [
      /#\s*(?:define|undef)\s+(?:assert|NDEBUG|(?:EXPECT|ASSERT|CHECK|REQUIRE|BOOST_CHECK|ck_assert|TEST)(?:_\w{1,40})?)\b/gm,
    ],
  },
  php: {
    code: [
      /\bfunction\s+(?:assert(?:Equals|Same|True|False|Null|Count|Contains|That|InstanceOf)|expectException)\s*\(/gm,
      /\bnamespace\s+(?:PHPUnit|Pest)\b/gm,
      /\bregister_shutdown_function\b/gm,
    ],
  },
  perl: {
    code: [
      /\bsub\s+(?:ok|is|isnt|like|is_deeply|cmp_ok|pass|fail|done_testing)\b/gm,
      /\*(?:\w{1,40}::){0,4}(?:ok|is|is_deeply|like|cmp_ok)\s*=/gm,
    ],
  },
  swift: {
    code: [/\bfunc\s+(?:XCTAssert\w{0,40}|XCTFail)\s*[(<]/gm],
  },
  elixir: {
    code: [/\bdef(?:macro)?\s+(?:assert|refute)\b/gm, /\bdefmodule\s+ExUnit\b/gm],
  },
  shell: {
    code: [
      /(?:^|[;&])[ \t]*(?:function[ \t]+)?(?:assert\w{0,40}|refute\w{0,40}|fail|run|test|\[)[ \t]*\(\)[ \t]*\{[ \t\n]*(?::|true|return(?:[ \t]+0)?|echo[^\n;}]{0,80})[ \t]*[;\n]/gm,
      /\balias\s+(?:assert\w{0,40}|test|grep|diff)=/gm,
      /^[ \t]*set[ \t]+\+e\b/gm,
    ],
  },
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
  const stubs = table[language] ?? {};
  const replaced = (pairs: Stubs['replaces'] = []): readonly RegExp[] =>
    pairs.flatMap(([form, word]) => (before !== undefined && word.test(before) ? form : []));
  const ofTests = isTest ? stubs : {};
  const offsets: number[] = [];
  const find = (where: string, forms: readonly RegExp[] = []): void => {
    // A match inside a comment or a string is not code.
    for (const { index } of forms.flatMap((form) => [...where.matchAll(form)]))
      if (/\S/.test(code[index] ?? ' ') || /\S/.test(code.slice(index, index + 3))) offsets.push(index);
  };
  find(code, stubs.everywhere);
  find(text, stubs.everywhereText);
  find(code, [...(ofTests.code ?? []), ...replaced(ofTests.replaces)]);
  find(text, [...(ofTests.text ?? []), ...replaced(ofTests.replacesText)]);
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
