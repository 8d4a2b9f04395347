/* How each language declares test cases, as data. */
import type { Language } from '../../readers/source/language.ts';

/**
 * The declaration form of a case.
 *
 * - `function`: the name is group 1; braces or indentation bound the body.
 * - `marked`: a mark before a function.
 * - `call`: a call with a name and a function.
 * - `trailing`: a call, or a text, before a block.
 * - `block`: a block that a line opens.
 * - `assertion`: a statement, named by its last text.
 */
export type CaseKind = 'function' | 'marked' | 'call' | 'trailing' | 'block' | 'assertion';

/** Forms over code (`test-text.ts`), where strings are empty; `comment`: a mark in a comment, over the text. */
type CaseForms = Readonly<Partial<Record<CaseKind | 'comment', readonly RegExp[]>>>;

const jvmMark =
  /(?<=@(?:\w{1,60}\.){0,6})(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Theory)\b(?!\.)/g;

/** The cases of each language. Names of groups and hooks are none. */
export const caseForms: Readonly<Record<Exclude<Language, 'shell'>, CaseForms>> = {
  javascript: {
    call: [
      /(?<![\w$])(?<!\bfunction\s+)(?:[xf]?(?:it|test|specify))\b(?!\s{0,80}\.\s{0,80}(?:describe|step)\b)/g,
    ],
  },
  python: {
    function: [/(?<=^[ \t]{0,80}(?:async[ \t]+)?)def[ \t]+(test\w*)/gm],
  },
  ruby: {
    function: [/\bdef[ \t]+(test_\w+[?!]?)/g],
    block: [
      /(?<=(?:^|;|\b(?:then|else|do|begin)\b)[ \t]{0,80})(?:it|specify|example)[ \t]{0,80}(?=\{)|(?<=(?:^|;|\b(?:then|else|do|begin)\b)[ \t]{0,80})(?:it|specify|test|scenario|example)\b[ (]\s{0,80}(?=["'%\w])[^\n]{0,300}?(?:\bdo\b|(?<!,\s{0,80})\{)/gm,
    ],
  },
  php: {
    function: [/\bfunction\s+&?(test\w*)/gi],
    marked: [/#\[[^\]\n]{0,300}\bTest\b/g],
    comment: [/(?:^|\*)[ \t]{0,80}@test\b(?![-\w])(?:[^*]|\*(?!\/)){0,2000}\*\//gm],
    call: [/(?<![\w>:$\\])(?:it|test)(?=\s{0,80}\()/g],
  },
  perl: {
    block: [/(?<!\bsub\s+)(?<![>:]\s{0,80})\bsubtest\b[^{};]{0,300}\{/g],
    assertion: [
      /(?<![\w$@%&>:])(?<!\bsub\s+)(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|dies_ok|lives_ok|throws_ok)\b(?=\s{0,80}\(|[ \t]+["'\w$@%\\])/g,
    ],
  },
  java: {
    marked: [jvmMark],
    function: [/\bdef\s+(?=["'])/g],
  },
  kotlin: {
    marked: [jvmMark],
    trailing: [
      /(?<![\w.])(?<!\bfun\s+)(?:test|should|it|expect|then|Then|scenario)(?=\s{0,80}\(\s{0,80}")/g,
      /"[^"\n]{0,300}"(?=(?:\s{0,80}\.\s{0,80}config\b[^{\n]{0,300})?\s{0,80}\{)/g,
    ],
  },
  scala: {
    marked: [jvmMark],
    trailing: [/(?<![\w.])(?:test|it|they|scenario|Scenario|property)(?=\s{0,80}\(\s{0,80}")/g],
    block: [/"[^"\n]{0,300}"\s{0,80}(?:in|>>)(?!\s{0,80}["\w])/g],
  },
  go: {
    function: [
      /\bfunc\s+(?:Test(?!Main\b)|Fuzz|Example)(?![a-z])\w*/g,
      /\bfunc\s+\([^()\n]{0,300}\)\s{0,80}(?:Test(?!Main\b)|Fuzz|Example)(?![a-z])\w*(?=\s{0,80}\(\s{0,80}\))/g,
    ],
    call: [/(?<=\.)Run(?=\()/g],
  },
  csharp: {
    marked: [
      /(?<=[[,]\s{0,80}(?:\w{1,60}\.){0,6})(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod)(?=\s{0,80}[\](,])/g,
    ],
  },
  rust: {
    marked: [
      /#\[\s{0,80}(?:\w{1,60}\s{0,9}::\s{0,9}){0,6}(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b/g,
    ],
  },
  c: {
    trailing: [
      /\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|TEST_CASE|SCENARIO|START_TEST|BOOST_AUTO_TEST_CASE|BOOST_FIXTURE_TEST_CASE|TEST_CASE_METHOD|TEMPLATE_TEST_CASE)(?=\s{0,80}\()/g,
    ],
  },
  swift: {
    function: [/\bfunc\s+(test\w*)(?=\s{0,80}\(\s{0,80}\))/g],
    marked: [/@Test\b/g],
  },
  elixir: {
    block: [/\b(?:test|property)[ \t]+"[^"\n]{0,300}"[^\n]{0,300}\bdo\b/g],
  },
};

/** Words before a function by which no runner calls it. */
export const hidden: Readonly<Partial<Record<Language, RegExp>>> = {
  java: /\b(?:private|static|abstract)\b/,
  kotlin: /\bprivate\b/,
  csharp: /\b(?:private|protected)\b/,
  php: /\b(?:private|protected|abstract)\b/,
  swift: /\b(?:private|fileprivate|static)\b/,
};

/**
 * The code that a mark certainly leaves out.
 *
 * - `call`: the statement with the mark.
 * - `declaration`: the declaration after it.
 * - `block`: the block that contains it as a statement, or the file.
 */
export type Extent = 'call' | 'declaration' | 'block';

/** Forms over code by which cases are left out. */
type LeftOutForms = Readonly<Partial<Record<Extent, readonly RegExp[]>>>;

const jvmOff =
  /@(?:\w{1,60}\.){0,6}(?:Disabled|Ignore|Ignored|PendingFeature)\b(?!\.)|@(?:\w{1,60}\.){0,6}Test\s{0,80}\([^()]{0,300}\benabled\s{0,80}=\s{0,80}false/g;
const jvmAssumption =
  /(?<=[;{}]\s{0,80})(?:(?:Assumptions|Assume|TestAbortedException)\s{0,80}\.\s{0,80})?(?:abort\s{0,80}\(|cancel\b|assumeTrue\s{0,80}\(\s{0,80}false|assumeFalse\s{0,80}\(\s{0,80}true)/g;
const throwsSkip =
  /(?<=[;{}\n]\s{0,80})throw\s+(?:new\s+)?(?:\w{1,60}\s{0,9}\.\s{0,9}){0,6}(?:SkipException|TestAbortedException|AssumptionViolatedException|XCTSkip)\b/g;

export const leftOutForms: Readonly<Partial<Record<Language, LeftOutForms>>> = {
  javascript: {
    call: [
      /(?<![\w$.])x(?:it|test|specify|describe|suite|context)\b(?=\s{0,80}[.(])|(?<![\w$.])(?:(?:it|test|specify|describe|suite|context|bench|QUnit|Deno|t)\s{0,80}\.\s{0,80})(?:\w+\s{0,80}\.\s{0,80}){0,3}(?:skip|todo|failing|fixme|ignore)\b(?=[^;]{0,300}(?:=>|\bfunction\b))|\.\s{0,80}(?:skipIf\s{0,80}\(\s{0,80}true|runIf\s{0,80}\(\s{0,80}false)\b|\.\s{0,80}each\s{0,80}\(\s{0,80}\[\s{0,80}\]/g,
      /(?<=\(\s{0,80}|,\s{0,80})\{(?:[^{}]{0,300},)?\s{0,80}(?:skip|todo|ignore)\s{0,80}:\s{0,80}(?:true\b|["'`])/g,
    ],
    block: [
      /(?<=[;{}]\s{0,80})(?:\w{1,60}|this)\s{0,80}\.\s{0,80}(?:skip|todo)\s{0,80}\(\s{0,80}(?:\)|(["'`])[^"'`]{0,300}\1\s{0,80}\)|\w)/g,
    ],
  },
  python: {
    declaration: [
      /^[ \t]{0,80}@(?:\w{1,60}\.){0,6}(?:(?:skip|xfail|expectedFailure)\b(?![\w.])|skip[iI]f\(\s{0,80}(?:True|1)\b|skipUnless\(\s{0,80}(?:False|0)\b|parametrize\(\s{0,80}["'][^"'\n]*["']\s{0,80},\s{0,80}(?:\[\s{0,80}\]|\(\s{0,80}\)))/gm,
    ],
    block: [
      /^[ \t]{0,80}(?:__test__\s{0,80}=\s{0,80}False|pytestmark\s{0,80}=[^\n]{0,300}\bmark\.(?:skip\b|skipif\(\s{0,80}(?:True|1)\b)|pytest\.skip\([^\n]{0,300}allow_module_level\s{0,80}=\s{0,80}True)|^raise\s+(?:\w{1,60}\.){0,6}SkipTest\b/gm,
      /^[ \t]+(?:(?:pytest|self|unittest)\.)?(?:skip|skipTest|xfail)\s{0,80}\(|^[ \t]+raise\s+(?:\w{1,60}\.){0,6}(?:SkipTest|Skipped)\b/gm,
    ],
  },
  ruby: {
    call: [
      /^[ \t]{0,80}(?:RSpec\.)?(?:x(?:describe|context|feature|it|specify|example|scenario)|skip|pending)\b[^\n]{0,300}\bdo\b|^[^\n]{0,300}[(,][ \t]{0,80}(?:skip|pending):[ \t]{0,80}(?!false\b|nil\b)[^\n]{0,300}\bdo\b|^[^\n]{0,300}[(,][ \t]{0,80}:(?:skip|pending)\b(?!:)[^\n]{0,300}\bdo\b/gm,
    ],
    block: [/^[ \t]+(?:skip|pending|omit)\b[ \t]{0,80}(?:\(?[ \t]{0,80}["'][^\n]{0,300})?$/gm],
  },
  php: {
    call: [/->\s{0,80}(?:skip|todo)\s{0,80}\(\s{0,80}(?:\)|["']|true\b)/g],
    block: [
      /(?<=[;{}]\s{0,80})(?:\$this\s{0,80}->|self\s{0,80}::|static\s{0,80}::)\s{0,80}markTest(?:Skipped|Incomplete)\b/g,
    ],
  },
  perl: {
    block: [
      /(?<=[;{]\s{0,80})(?:skip|todo_skip|plan\s{0,80}\(?\s{0,80}skip_all)\b(?![^;}]{0,300}(?:\b(?:if|unless)\b|\?))/g,
      /^(?:use\s+Test::\w+\s+|plan\s{0,80}\(?\s{0,80})skip_all\b(?![^;}]{0,300}(?:\b(?:if|unless)\b|\?))/gm,
    ],
  },
  java: {
    declaration: [jvmOff],
    block: [jvmAssumption, throwsSkip],
  },
  kotlin: {
    declaration: [jvmOff],
    block: [jvmAssumption],
    call: [
      /(?<![\w.])(?:x(?:describe|context|given|when|should|feature|expect|it|test|scenario)|ignore)\s{0,80}(?=\()|\.\s{0,80}config\s{0,80}\([^)]{0,300}\benabled\s{0,80}=\s{0,80}false/g,
    ],
  },
  scala: {
    declaration: [jvmOff],
    block: [jvmAssumption, /(?<=[;{]\s{0,80})(?:pending|cancel)\b(?!\s{0,80}=)/g],
    call: [
      /(?<![\w.])ignore\s{0,80}(?=\()|"\s{0,80}\.\s{0,80}(?:ignore|pending)\b|"\s{0,80}ignore\s{0,80}(?=\{)|(?<![\w.])ignore\s+should\b|\b(?:in|>>)\s{0,80}(?:\{\s{0,80})?pending\b/g,
    ],
  },
  go: {
    block: [
      /^\/\/(?:go:build| ?\+build)[ \t]+ignore[ \t\r]*$/gm,
      /(?<=[;{}\n]\s{0,80})\w+\.(?:Skip|SkipNow|Skipf)\(/g,
    ],
  },
  csharp: {
    declaration: [
      /(?<=[[,(]\s{0,80})(?:Ignore|Explicit)\b(?=\s{0,80}[\](,])|\b(?:Skip|Ignore|Explicit)\s{0,80}=\s{0,80}(?!null\b|false\b|=)/g,
    ],
    block: [/(?<=[;{}]\s{0,80})Assert\s{0,80}\.\s{0,80}(?:Ignore|Inconclusive|Skip)\s{0,80}\(/g, throwsSkip],
  },
  rust: {
    declaration: [
      /#\[\s{0,80}(?:ignore\b|cfg\s{0,80}\(\s{0,80}(?:any\s{0,80}\(\s{0,80}\)|not\s{0,80}\(\s{0,80}all\s{0,80}\(\s{0,80}\)))/g,
    ],
    block: [/^#!\[\s{0,80}cfg\s{0,80}\(\s{0,80}any\s{0,80}\(\s{0,80}\)/gm],
  },
  c: {
    call: [/\bDISABLED_\w+\s{0,80}(?=[,)])|(?<=,\s{0,80})"[^"\n]{0,300}\[(?:\.|!hide)/g],
    block: [/(?<=[;{}]\s{0,80})(?:GTEST_SKIP|SKIP)\s{0,80}\(/g],
  },
  swift: {
    declaration: [
      /@(?:Test|Suite)\s{0,80}\((?:[^()]|\([^()]{0,300}\))*?\.disabled\s{0,80}\((?!\s{0,80}if\b)/g,
    ],
    block: [throwsSkip, /(?<=[;{}\n]\s{0,80})try\s+XCTSkipIf\s{0,80}\(\s{0,80}true\b/g],
  },
  elixir: {
    declaration: [/@tag[ \t]+(?::skip\b|skip:[ \t]{0,80}(?!false\b))/g],
    block: [/@(?:moduletag|describetag)[ \t]+(?::skip\b|skip:[ \t]{0,80}(?!false\b))/g],
  },
};

/** Each form with its kind. */
export function formsIn<Kind extends string>(
  table: Readonly<Partial<Record<Kind, readonly RegExp[]>>>,
): readonly (readonly [kind: Kind, form: RegExp])[] {
  const kinds = Object.entries(table) as [Kind, readonly RegExp[]][];
  return kinds.flatMap(([kind, forms]) => forms.map((form) => [kind, form] as const));
}
