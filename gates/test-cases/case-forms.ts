/* How each language declares test cases, and leaves them out, as data. */
import type { Language } from '../../readers/source/language.ts';

/**
 * The declaration form of a case.
 *
 * - `function`: the name is group 1; braces or indentation bound the body.
 * - `marked`: a mark before a function; `comment`: a mark in a comment, over the text.
 * - `call`: a call with a name and a function.
 * - `trailing`: a call, or a text, before a block.
 * - `block`: a block that a line opens.
 * - `assertion`: a statement, named by its last text.
 */
export type CaseKind = 'function' | 'marked' | 'comment' | 'call' | 'trailing' | 'block' | 'assertion';

/**
 * Marks by which tests are left out. The first three leave out for certain: the statement with the mark (`call`), the
 * declaration behind it, the block that holds it as a statement, or the file (`block`). `may`: on a condition.
 * `focus`: only what is marked runs. Over the text: `file`, as `may`; `inverts`: the test is expected to fail.
 */
export type MarkKind = 'call' | 'declaration' | 'block' | 'may' | 'focus' | 'file' | 'inverts';

/** Forms over code (`test-text.ts`), where strings are empty. */
type Forms<Kind extends string> = Readonly<Partial<Record<Kind, RegExp>>>;

const jvmMark =
  /(?<=@(?:\w{1,60}\.){0,6})(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Theory)\b(?!\.)/g;

/** The cases of each language. Names of groups and hooks are none. */
export const caseForms: Readonly<Record<Language, Forms<CaseKind>>> = {
  javascript: {
    call: /(?<![\w$])(?<!\bfunction\s+)(?:[xf]?(?:it|test|specify))\b(?!\s{0,80}\.\s{0,80}(?:describe|step)\b)/g,
  },
  python: {
    function: /(?<=^[ \t]{0,80}(?:async[ \t]+)?)def[ \t]+(test\w*)/gm,
  },
  ruby: {
    function: /\bdef[ \t]+(test_\w+[?!]?)/g,
    block:
      /(?<=(?:^|;|\b(?:then|else|do|begin)\b)[ \t]{0,80})(?:it|specify|example)[ \t]{0,80}(?=\{)|(?<=(?:^|;|\b(?:then|else|do|begin)\b)[ \t]{0,80})(?:it|specify|test|scenario|example)\b[ (]\s{0,80}(?=["'%\w])[^\n]{0,300}?(?:\bdo\b|(?<!,\s{0,80})\{)/gm,
  },
  php: {
    function: /\bfunction\s+&?(test\w*)/gi,
    marked: /#\[[^\]\n]{0,300}\bTest\b/g,
    comment: /(?:^|\*)[ \t]{0,80}@test\b(?![-\w])(?:[^*]|\*(?!\/)){0,2000}\*\//gm,
    call: /(?<![\w>:$\\])(?:it|test)(?=\s{0,80}\()/g,
  },
  perl: {
    block: /(?<!\bsub\s+)(?<![>:]\s{0,80})\bsubtest\b[^{};]{0,300}\{/g,
    assertion:
      /(?<![\w$@%&>:])(?<!\bsub\s+)(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|dies_ok|lives_ok|throws_ok)\b(?=\s{0,80}\(|[ \t]+["'\w$@%\\])/g,
  },
  java: {
    marked: jvmMark,
    function: /\bdef\s+(?=["'])/g,
  },
  kotlin: {
    marked: jvmMark,
    trailing:
      /(?<![\w.])(?<!\bfun\s+)(?:test|should|it|expect|then|Then|scenario)(?=\s{0,80}\(\s{0,80}")|"[^"\n]{0,300}"(?=(?:\s{0,80}\.\s{0,80}config\b[^{\n]{0,300})?\s{0,80}\{)/g,
  },
  scala: {
    marked: jvmMark,
    trailing: /(?<![\w.])(?:test|it|they|scenario|Scenario|property)(?=\s{0,80}\(\s{0,80}")/g,
    block: /"[^"\n]{0,300}"\s{0,80}(?:in|>>)(?!\s{0,80}["\w])/g,
  },
  go: {
    function:
      /\bfunc\s+(?:Test(?!Main\b)|Fuzz|Example)(?![a-z])\w*|\bfunc\s+\([^()\n]{0,300}\)\s{0,80}(?:Test(?!Main\b)|Fuzz|Example)(?![a-z])\w*(?=\s{0,80}\(\s{0,80}\))/g,
    call: /(?<=\.)Run(?=\()/g,
  },
  csharp: {
    marked:
      /(?<=[[,]\s{0,80}(?:\w{1,60}\.){0,6})(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod)(?=\s{0,80}[\](,])/g,
  },
  rust: {
    marked:
      /#\[\s{0,80}(?:\w{1,60}\s{0,9}::\s{0,9}){0,6}(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b/g,
  },
  c: {
    trailing:
      /\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|TEST_CASE|SCENARIO|START_TEST|BOOST_AUTO_TEST_CASE|BOOST_FIXTURE_TEST_CASE|TEST_CASE_METHOD|TEMPLATE_TEST_CASE)(?=\s{0,80}\()/g,
  },
  swift: {
    function: /\bfunc\s+(test\w*)(?=\s{0,80}\(\s{0,80}\))/g,
    marked: /@Test\b/g,
  },
  elixir: {
    block: /\b(?:test|property)[ \t]+"[^"\n]{0,300}"[^\n]{0,300}\bdo\b/g,
  },
  shell: {
    block: /(?<=^[ \t]{0,80})@test[ \t]+(["']).{1,500}?\1[ \t]*\{/gm,
    function: /(?<=^[ \t]{0,80}(?:function[ \t]+)?)test_?\w{1,200}(?=[ \t]*\(\))/gm,
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

const jvmOff =
  /@(?:\w{1,60}\.){0,6}(?:Disabled|Ignore|Ignored|PendingFeature)\b(?!\.)|@(?:\w{1,60}\.){0,6}Test\s{0,80}\([^()]{0,300}\benabled\s{0,80}=\s{0,80}false/g;
/** A statement by which a test of any language with exceptions leaves itself out. */
const throwsSkip = String.raw`(?<=[;{}\n]\s{0,80})throw\s+(?:new\s+)?(?:\w{1,60}\s{0,9}\.\s{0,9}){0,6}(?:SkipException|TestAbortedException|AssumptionViolatedException|XCTSkip)\b`;
const jvmLeaves = new RegExp(
  String.raw`(?<=[;{}]\s{0,80})(?:(?:Assumptions|Assume|TestAbortedException)\s{0,80}\.\s{0,80})?(?:abort\s{0,80}\(|(?:cancel|pending)\b(?!\s{0,80}=)|assumeTrue\s{0,80}\(\s{0,80}false|assumeFalse\s{0,80}\(\s{0,80}true)|${throwsSkip}`,
  'g',
);

export const marks: Readonly<Record<Language, Forms<MarkKind>>> = {
  javascript: {
    call: /(?<![\w$.])x(?:it|test|specify|describe|suite|context)\b(?=\s{0,80}[.(])|(?<![\w$.])(?:(?:it|test|specify|describe|suite|context|bench|QUnit|Deno|t)\s{0,80}\.\s{0,80})(?:\w+\s{0,80}\.\s{0,80}){0,3}(?:skip|todo|failing|fixme|ignore)\b(?=[^;]{0,300}(?:=>|\bfunction\b))|\.\s{0,80}(?:skipIf\s{0,80}\(\s{0,80}true|runIf\s{0,80}\(\s{0,80}false)\b|\.\s{0,80}each\s{0,80}\(\s{0,80}\[\s{0,80}\]|(?<=\(\s{0,80}|,\s{0,80})\{(?:[^{}]{0,300},)?\s{0,80}(?:skip|todo|ignore)\s{0,80}:\s{0,80}(?:true\b|["'`])/g,
    block:
      /(?<=[;{}]\s{0,80})(?:\w{1,60}|this)\s{0,80}\.\s{0,80}(?:skip|todo)\s{0,80}\(\s{0,80}(?:\)|(["'`])[^"'`]{0,300}\1\s{0,80}\)|\w)/g,
    may: /\b(?:it|test|describe|suite|context|specify|bench|t|ctx|this|Deno|step)(?:\.\w{1,20}){0,3}\.(?:skip|skipIf|runIf|todo|todoIf|fixme|failing|fails|ignore|if)\b|[{,]\s*(?:skip|todo|ignore)\s*:(?!\s*(?:\d|\[|\{|false\b|undefined\b))|\bprocess\.(?:exit|abort|reallyExit)\s*\(|\bprocess\.exitCode\s*=(?!=)|\bpending\s*\(/g,
    focus:
      /\b(?:it|test|describe|suite|context|specify|bench|t|Deno|step|serial)(?:\.\w{1,20}){0,3}\.only\b|(?<![\w.])f(?:it|describe|context)\s*\(|[{,]\s*only\s*:\s*(?!false\b)|\bdescribe\.solo\b/g,
  },
  python: {
    declaration:
      /^[ \t]{0,80}@(?:\w{1,60}\.){0,6}(?:(?:skip|xfail|expectedFailure)\b(?![\w.])|skip[iI]f\(\s{0,80}(?:True|1)\b|skipUnless\(\s{0,80}(?:False|0)\b|parametrize\(\s{0,80}["'][^"'\n]*["']\s{0,80},\s{0,80}(?:\[\s{0,80}\]|\(\s{0,80}\)))/gm,
    block:
      /^[ \t]{0,80}(?:__test__\s{0,80}=\s{0,80}False|pytestmark\s{0,80}=[^\n]{0,300}\bmark\.(?:skip\b|skipif\(\s{0,80}(?:True|1)\b)|pytest\.skip\([^\n]{0,300}allow_module_level\s{0,80}=\s{0,80}True)|^raise\s+(?:\w{1,60}\.){0,6}SkipTest\b|^[ \t]+(?:(?:pytest|self|unittest)\.)?(?:skip|skipTest|xfail)\s{0,80}\(|^[ \t]+raise\s+(?:\w{1,60}\.){0,6}(?:SkipTest|Skipped)\b/gm,
    may: /\bmark\.(?:skip|skipif|xfail)\b|\b(?:unittest|pytest)\.(?:skip|skipIf|skipUnless|xfail|expectedFailure|importorskip|exit|SkipTest)\b|@(?:skip|skipIf|skipUnless|skipif|xfail|expectedFailure)\b|\b(?:SkipTest|__test__|collect_ignore(?:_glob)?)\b|\b(?:os\._exit|sys\.exit|os\.abort|os\.kill)\s*\(/g,
    focus: /\bmark\.only\b|@focus\b/g,
  },
  ruby: {
    call: /^[ \t]{0,80}(?:RSpec\.)?(?:x(?:describe|context|feature|it|specify|example|scenario)|skip|pending)\b[^\n]{0,300}\bdo\b|^[^\n]{0,300}[(,][ \t]{0,80}(?:skip|pending):[ \t]{0,80}(?!false\b|nil\b)[^\n]{0,300}\bdo\b|^[^\n]{0,300}[(,][ \t]{0,80}:(?:skip|pending)\b(?!:)[^\n]{0,300}\bdo\b/gm,
    block: /^[ \t]+(?:skip|pending|omit)\b[ \t]{0,80}(?:\(?[ \t]{0,80}["'][^\n]{0,300})?$/gm,
    may: /(?:^|[;{]|\bdo\b|\bthen\b)[ \t]*(?:skip|pending|omit|xit|xdescribe|xcontext|xspecify|xexample|xscenario)\b|(?:^|[;{])[ \t]*(?:exit!?|abort)\b|\b(?:skip|pending|omit)\s+(?:["']|if\b|unless\b)|[,(]\s*(?:if|unless)\s*:|^[ \t]*end[ \t]+(?:if|unless)\b/gm,
    focus:
      /(?:^|[;])[ \t]*(?:RSpec\.)?f(?:it|describe|context|specify|example|scenario)\b|\bfocus\s*:\s*(?!false\b)|[(,]\s*:focus\b|^[ \t]*focus[ \t]*$/gm,
  },
  php: {
    call: /->\s{0,80}(?:skip|todo)\s{0,80}\(\s{0,80}(?:\)|["']|true\b)/g,
    block:
      /(?<=[;{}]\s{0,80})(?:\$this\s{0,80}->|self\s{0,80}::|static\s{0,80}::)\s{0,80}markTest(?:Skipped|Incomplete)\b/g,
    may: /#\[\s*(?:\w{1,20}\\){0,6}(?:Requires\w{0,40}|DoesNotPerformAssertions)\b|->(?:skip|todo|skipOn\w{0,20}|onlyOn\w{0,20})\s*\(|(?:^|[;{])[ \t]*(?:exit|die)\s*[(;]/gm,
    focus: /->only\s*\(/g,
    file: /^[ \t]*\*[ \t]*@requires\b/gm,
    inverts: /\bexpectNotToPerformAssertions\b|@doesNotPerformAssertions\b/g,
  },
  perl: {
    block:
      /(?<=[;{]\s{0,80})(?:skip|todo_skip|plan\s{0,80}\(?\s{0,80}skip_all)\b(?![^;}]{0,300}(?:\b(?:if|unless)\b|\?))|^(?:use\s+Test::\w+\s+|plan\s{0,80}\(?\s{0,80})skip_all\b(?![^;}]{0,300}(?:\b(?:if|unless)\b|\?))/gm,
    may: /\b(?:skip_all|todo_skip|TODO|SKIP)\b|(?:^|[;{])[ \t]*(?:skip|exit)\b/gm,
    inverts: /\blocal\s+\$TODO\b/g,
  },
  java: {
    declaration: jvmOff,
    block: jvmLeaves,
    may: /@(?:Disabled|Ignore|Enabled|DisabledIf|EnabledIf)\w{0,40}|\b(?:assume\w{0,20}|Assum(?:e|ptions)\s*\.)|\benabled\s*=\s*false|\bSystem\.(?:exit|halt)\s*\(|\b(?:SkipException|TestAbortedException)\b/g,
    inverts: /\bexpected(?:Exceptions)?\s*=\s*\{?\s*(?:AssertionError|Throwable|Exception|Error)\b/g,
  },
  kotlin: {
    declaration: jvmOff,
    block: jvmLeaves,
    call: /(?<![\w.])(?:x(?:describe|context|given|when|should|feature|expect|it|test|scenario)|ignore)\s{0,80}(?=\()|\.\s{0,80}config\s{0,80}\([^)]{0,300}\benabled\s{0,80}=\s{0,80}false/g,
    may: /@(?:Disabled|Ignore|Enabled)\w{0,40}|\b(?:assume\w{0,20}|Assum(?:e|ptions)\s*\.)|\b(?:enabled|enabledIf|enabledOrReasonIf)\s*=|\bexitProcess\s*\(/g,
    focus: /\bf(?:describe|context|given|should|feature|expect|it)\s*\(/g,
  },
  scala: {
    declaration: jvmOff,
    block: jvmLeaves,
    call: /(?<![\w.])ignore\s{0,80}(?=\()|"\s{0,80}\.\s{0,80}(?:ignore|pending)\b|"\s{0,80}ignore\s{0,80}(?=\{)|(?<![\w.])ignore\s+should\b|\b(?:in|>>)\s{0,80}(?:\{\s{0,80})?pending\b/g,
    may: /\b(?:ignore|assume|cancel|pending|pendingUntilFixed)\b|\.(?:ignore|pending|fail)\b/g,
  },
  go: {
    block:
      /^\/\/(?:go:build| ?\+build)[ \t]+ignore[ \t\r]*$|(?<=[;{}\n]\s{0,80})\w+\.(?:Skip|SkipNow|Skipf)\(/gm,
    may: /\bos\.Exit\s*\(|\btesting\.Short\s*\(/g,
    file: /^\/\/(?:go:build| ?\+build)\b/gm,
  },
  csharp: {
    declaration:
      /(?<=[[,(]\s{0,80})(?:Ignore|Explicit)\b(?=\s{0,80}[\](,])|\b(?:Skip|Ignore|Explicit)\s{0,80}=\s{0,80}(?!null\b|false\b|=)/g,
    block: new RegExp(
      String.raw`(?<=[;{}]\s{0,80})Assert\s{0,80}\.\s{0,80}(?:Ignore|Inconclusive|Skip)\s{0,80}\(|${throwsSkip}`,
      'g',
    ),
    may: /[[,(]\s*(?:Ignore|Explicit|Platform)\b|\bSkip(?:Unless|When|Type)?\s*=|\bAssert\.(?:Ignore|Inconclusive|Skip|Pass)\w{0,10}|\b(?:Skip|Assume)\.\w{1,12}\s*\(|\bEnvironment\.(?:Exit|FailFast)\s*\(|\b(?:Skippable|Conditional)(?:Fact|Theory)\b/g,
  },
  rust: {
    declaration:
      /#\[\s{0,80}(?:ignore\b|cfg\s{0,80}\(\s{0,80}(?:any\s{0,80}\(\s{0,80}\)|not\s{0,80}\(\s{0,80}all\s{0,80}\(\s{0,80}\)))/g,
    block: /^#!\[\s{0,80}cfg\s{0,80}\(\s{0,80}any\s{0,80}\(\s{0,80}\)/gm,
    may: /#!?\[\s*(?:ignore\b|cfg_attr\b|cfg\b(?!\s*\(\s*test\s*\)))|\bprocess::(?:exit|abort)\s*\(/g,
    file: /^#!\[\s*cfg\b(?!\s*\(\s*test\s*\))/gm,
    inverts: /#\[\s*should_panic\s*(?:\]|\(\s*expected\s*=\s*"[^"]{0,20}assert)/g,
  },
  c: {
    call: /\bDISABLED_\w+\s{0,80}(?=[,)])|(?<=,\s{0,80})"[^"\n]{0,300}\[(?:\.|!hide)/g,
    block: /(?<=[;{}]\s{0,80})(?:GTEST_SKIP|SKIP)\s{0,80}\(/g,
    may: /\b(?:GTEST_SKIP|SKIP|DISABLED_\w{1,60}|TEST_IGNORE\w{0,20})\b|(?<![\w.])_?exit\s*\(|\bBOOST_TEST_DISABLED\b|\bdisabled\s*\(/g,
  },
  swift: {
    declaration: /@(?:Test|Suite)\s{0,80}\((?:[^()]|\([^()]{0,300}\))*?\.disabled\s{0,80}\((?!\s{0,80}if\b)/g,
    block: new RegExp(
      String.raw`${throwsSkip}|(?<=[;{}\n]\s{0,80})try\s+XCTSkipIf\s{0,80}\(\s{0,80}true\b`,
      'g',
    ),
    may: /\bXCTSkip\w{0,10}|\.(?:disabled|enabled)\s*\(|(?<![\w.])exit\s*\(/g,
    focus: /(?<![\w.])f(?:it|describe|context)\s*\(/g,
    inverts: /\b(?:XCTExpectFailure|withKnownIssue)\b/g,
  },
  elixir: {
    declaration: /@tag[ \t]+(?::skip\b|skip:[ \t]{0,80}(?!false\b))/g,
    block: /@(?:moduletag|describetag)[ \t]+(?::skip\b|skip:[ \t]{0,80}(?!false\b))/g,
    may: /@(?:module|describe)?tag\s*:?\s*skip\b|\bSystem\.(?:halt|stop)\b/g,
    focus: /@tag\s*:?\s*only\b/g,
  },
  shell: {
    block: /^[ \t]+skip\b[^\n]*$/gm,
    may: /(?:^|[;&|{]|\bthen\b|\bdo\b)[ \t]*(?:skip\b|exit\s+0\b|exit[ \t]*$)|\btrap\s[^\n]{0,100}exit\s+0/gm,
    file: /^#[ \t]*bats[ \t]+(?:file_tags|test_tags)=[^\n]{0,100}/gm,
  },
};

/** Leaving a test because of the environment, in any language. */
export const byEnvironment =
  /\bif\b[^\n]{0,120}(?:process\.env|import\.meta\.env|os\.environ|[gG]etenv|ENV\[|std::env|GetEnvironmentVariable)\b[^\n]{0,160}[{:)]\s*(?:return|continue)\b/g;
