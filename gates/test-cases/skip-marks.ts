import type { Language } from '../../readers/source/language.ts';
import { leftOutForms } from './case-forms.ts';

/** Leaving a test because of the environment. */
const byEnvironment = String.raw`\bif\b[^\n]{0,120}(?:process\.env|import\.meta\.env|os\.environ|[gG]etenv|ENV\[|std::env|GetEnvironmentVariable)\b[^\n]{0,160}[{:)]\s*(?:return|continue)\b`;

/**
 * Forms over code (`test-text.ts`) by which a test, a group or a file can be left out, on a condition or without one;
 * beside those that leave out for certain (`leftOutForms`).
 */
const skips: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: [
    String.raw`\b(?:it|test|describe|suite|context|specify|bench|t|ctx|this|Deno|step)(?:\.\w{1,20}){0,3}\.(?:skip|skipIf|runIf|todo|todoIf|fixme|failing|fails|ignore|if)\b`,
    String.raw`[{,]\s*(?:skip|todo|ignore)\s*:(?!\s*(?:\d|\[|\{|false\b|undefined\b))`,
    String.raw`\bprocess\.(?:exit|abort|reallyExit)\s*\(`,
    String.raw`\bprocess\.exitCode\s*=(?!=)`,
    String.raw`\bpending\s*\(`,
  ],
  python: [
    String.raw`\bmark\.(?:skip|skipif|xfail)\b`,
    String.raw`\b(?:unittest|pytest)\.(?:skip|skipIf|skipUnless|xfail|expectedFailure|importorskip|exit|SkipTest)\b`,
    String.raw`@(?:skip|skipIf|skipUnless|skipif|xfail|expectedFailure)\b`,
    String.raw`\b(?:SkipTest|__test__|collect_ignore(?:_glob)?)\b`,
    String.raw`\b(?:os\._exit|sys\.exit|os\.abort|os\.kill)\s*\(`,
  ],
  go: [String.raw`\bos\.Exit\s*\(`, String.raw`\btesting\.Short\s*\(`],
  java: [
    String.raw`@(?:Disabled|Ignore|Enabled|DisabledIf|EnabledIf)\w{0,40}`,
    String.raw`\b(?:assume\w{0,20}|Assum(?:e|ptions)\s*\.)`,
    String.raw`\benabled\s*=\s*false`,
    String.raw`\bSystem\.(?:exit|halt)\s*\(`,
    String.raw`\b(?:SkipException|TestAbortedException)\b`,
  ],
  kotlin: [
    String.raw`@(?:Disabled|Ignore|Enabled)\w{0,40}`,
    String.raw`\b(?:assume\w{0,20}|Assum(?:e|ptions)\s*\.)`,
    String.raw`\b(?:enabled|enabledIf|enabledOrReasonIf)\s*=`,
    String.raw`\bexitProcess\s*\(`,
  ],
  scala: [
    String.raw`\b(?:ignore|assume|cancel|pending|pendingUntilFixed)\b`,
    String.raw`\.(?:ignore|pending|fail)\b`,
  ],
  csharp: [
    String.raw`[\[,(]\s*(?:Ignore|Explicit|Platform)\b`,
    String.raw`\bSkip(?:Unless|When|Type)?\s*=`,
    String.raw`\bAssert\.(?:Ignore|Inconclusive|Skip|Pass)\w{0,10}`,
    String.raw`\b(?:Skip|Assume)\.\w{1,12}\s*\(`,
    String.raw`\bEnvironment\.(?:Exit|FailFast)\s*\(`,
    String.raw`\b(?:Skippable|Conditional)(?:Fact|Theory)\b`,
  ],
  ruby: [
    String.raw`(?:^|[;{]|\bdo\b|\bthen\b)[ \t]*(?:skip|pending|omit|xit|xdescribe|xcontext|xspecify|xexample|xscenario)\b`,
    String.raw`(?:^|[;{])[ \t]*(?:exit!?|abort)\b`,
    String.raw`\b(?:skip|pending|omit)\s+(?:["']|if\b|unless\b)`,
    String.raw`[,(]\s*(?:if|unless)\s*:`,
    String.raw`^[ \t]*end[ \t]+(?:if|unless)\b`,
  ],
  rust: [
    String.raw`#!?\[\s*(?:ignore\b|cfg_attr\b|cfg\b(?!\s*\(\s*test\s*\)))`,
    String.raw`\bprocess::(?:exit|abort)\s*\(`,
  ],
  php: [
    String.raw`#\[\s*(?:\w{1,20}\\){0,6}(?:Requires\w{0,40}|DoesNotPerformAssertions)\b`,
    String.raw`->(?:skip|todo|skipOn\w{0,20}|onlyOn\w{0,20})\s*\(`,
    String.raw`(?:^|[;{])[ \t]*(?:exit|die)\s*[(;]`,
  ],
  c: [
    String.raw`\b(?:GTEST_SKIP|SKIP|DISABLED_\w{1,60}|TEST_IGNORE\w{0,20})\b`,
    String.raw`(?<![\w.])_?exit\s*\(`,
    String.raw`\bBOOST_TEST_DISABLED\b|\bdisabled\s*\(`,
  ],
  swift: [
    String.raw`\bXCTSkip\w{0,10}`,
    String.raw`\.(?:disabled|enabled)\s*\(`,
    String.raw`(?<![\w.])exit\s*\(`,
  ],
  elixir: [String.raw`@(?:module|describe)?tag\s*:?\s*skip\b`, String.raw`\bSystem\.(?:halt|stop)\b`],
  perl: [String.raw`\b(?:skip_all|todo_skip|TODO|SKIP)\b`, String.raw`(?:^|[;{])[ \t]*(?:skip|exit)\b`],
  shell: [
    String.raw`(?:^|[;&|{]|\bthen\b|\bdo\b)[ \t]*(?:skip\b|exit\s+0\b|exit[ \t]*$)`,
    String.raw`\btrap\s[^\n]{0,100}exit\s+0`,
  ],
};

/** Forms by which only the marked tests run. */
const focuses: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: [
    String.raw`\b(?:it|test|describe|suite|context|specify|bench|t|Deno|step|serial)(?:\.\w{1,20}){0,3}\.only\b`,
    String.raw`(?<![\w.])f(?:it|describe|context)\s*\(`,
    String.raw`[{,]\s*only\s*:\s*(?!false\b)`,
    String.raw`\bdescribe\.solo\b`,
  ],
  ruby: [
    String.raw`(?:^|[;])[ \t]*(?:RSpec\.)?f(?:it|describe|context|specify|example|scenario)\b`,
    String.raw`\bfocus\s*:\s*(?!false\b)`,
    String.raw`[(,]\s*:focus\b`,
    String.raw`^[ \t]*focus[ \t]*$`,
  ],
  kotlin: [String.raw`\bf(?:describe|context|given|should|feature|expect|it)\s*\(`],
  php: [String.raw`->only\s*\(`],
  python: [String.raw`\bmark\.only\b`, String.raw`@focus\b`],
  elixir: [String.raw`@tag\s*:?\s*only\b`],
  swift: [String.raw`(?<![\w.])f(?:it|describe|context)\s*\(`],
};

/** Files that a build leaves out on a condition: read from comments, so from the text itself. */
const conditions: Readonly<Partial<Record<Language, RegExp>>> = {
  go: /^\/\/(?:go:build| ?\+build)\b/gm,
  shell: /^#[ \t]*bats[ \t]+(?:file_tags|test_tags)=[^\n]{0,100}/gm,
  rust: /^#!\[\s*cfg\b(?!\s*\(\s*test\s*\))/gm,
  php: /^[ \t]*\*[ \t]*@(?:requires|doesNotPerformAssertions)\b/gm,
};

const known = new Map<string, RegExp>();

function formOf(table: 'skip' | 'focus', language: Language): RegExp | undefined {
  const key = `${table} ${language}`;
  const forms = (table === 'skip' ? skips : focuses)[language];
  if (!forms) return undefined;
  const made =
    known.get(key) ?? new RegExp([...forms, ...(table === 'skip' ? [byEnvironment] : [])].join('|'), 'gm');
  known.set(key, made);
  return made;
}

/** Offsets where code may leave tests out, in order. */
export function skipMarks(code: string, text: string, language: Language): readonly number[] {
  const form = formOf('skip', language);
  const said = conditions[language];
  const certain = (leftOutForms[language] ?? []).flatMap(([, one]) => [...code.matchAll(one)]);
  const found = [...certain, ...(form ? code.matchAll(form) : []), ...(said ? text.matchAll(said) : [])];
  const offsets = found.map(({ index, 0: mark }) => index + Math.max(0, mark.search(/\S/)));
  return [...new Set(offsets)].sort((a, b) => a - b);
}

/** Offsets where code says that only some tests run, in order. */
export function focusMarks(code: string, language: Language): readonly number[] {
  const form = formOf('focus', language);
  return form ? [...code.matchAll(form)].map(({ index }) => index) : [];
}

/** Forms by which a test is expected to fail, so that its failures are none. */
const inversions: Readonly<Partial<Record<Language, RegExp>>> = {
  rust: /#\[\s*should_panic\s*(?:\]|\(\s*expected\s*=\s*"[^"]{0,20}assert)/g,
  swift: /\b(?:XCTExpectFailure|withKnownIssue)\b/g,
  php: /\bexpectNotToPerformAssertions\b|@doesNotPerformAssertions\b/g,
  java: /\bexpected(?:Exceptions)?\s*=\s*\{?\s*(?:AssertionError|Throwable|Exception|Error)\b/g,
  perl: /\blocal\s+\$TODO\b/g,
};

/** Offsets where a text says so, in order. */
export function expectsFailure(code: string, text: string, language: Language): readonly number[] {
  const form = inversions[language];
  // What stands in a string is no code; a docblock is.
  return form
    ? [...text.matchAll(form)]
        .map(({ index }) => index)
        .filter((at) => language === 'php' || /\S/.test(code[at] ?? ''))
    : [];
}
