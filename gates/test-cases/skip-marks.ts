/* Finds marks that skip, focus or invert tests. */
import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { bracketAt, isOutline, type Layout, type Outline, type Shape, type Span } from './blocks.ts';
import { type Extent, formsIn, leftOutForms } from './case-forms.ts';

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
  const certain = formsIn(leftOutForms[language] ?? {}).flatMap(([, one]) => [...code.matchAll(one)]);
  const found = [...certain, ...(form ? code.matchAll(form) : []), ...(said ? text.matchAll(said) : [])];
  const offsets = found.map(({ index, 0: mark }) => index + Math.max(0, mark.search(/\S/)));
  return [...new Set(offsets)].sort((a, b) => a - b);
}

/** Offsets of marks by which only some tests run, in order. */
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

/** Offsets of marks by which a test is expected to fail, in order. */
export function expectsFailure(code: string, text: string, language: Language): readonly number[] {
  const form = inversions[language];
  // The content of a string is not code; a docblock is.
  return form
    ? [...text.matchAll(form)]
        .map(({ index }) => index)
        .filter((at) => language === 'php' || /\S/.test(code[at] ?? ''))
    : [];
}

/** Parts of a text of which no runner runs a case, by marks that hold for certain. */
export function leftOutSpans(
  code: string,
  { text, whole }: Pick<ChangedSource, 'text' | 'whole'>,
  language: Language,
  shape: Shape,
): readonly Span[] {
  const spans: Span[] = [];
  for (const [extent, form] of formsIn(leftOutForms[language] ?? {}))
    for (const match of (language === 'go' || language === 'c' ? text : code).matchAll(form)) {
      const at = match.index + Math.max(0, match[0].search(/\S/));
      if (extent === 'block' && language === 'go' && match[0].startsWith('//') && !isAtHead(text, at))
        continue;
      spans.push(isOutline(shape) ? inBraces(code, at, extent, shape) : byLines(code, at, extent, shape));
    }
  if (language === 'python' && whole && !isOutline(shape)) spans.push(...uncollected(code, shape));
  return spans;
}

/** A build tag counts before the package alone. */
function isAtHead(text: string, at: number): boolean {
  const found = text.search(/^package\b/m);
  return found === -1 || at < found;
}

const isAlways = /\bif\b\s*\(?\s*(?:true|1)\s*\)?\s*$/;

function inBraces(code: string, at: number, extent: Extent, outline: Outline): Span {
  let number = outline.around(at);
  const mark = (): string => outline.brackets[number]?.mark ?? '{';
  if (extent === 'call') {
    const holder = outline.brackets[number];
    // An argument of the call: an option, a name.
    if (holder?.mark === '(' && (code[at] === '{' || /^(?:DISABLED_|["'])/.test(code.slice(at, at + 9))))
      return [outline.startOf(holder.open), Math.max(holder.close, outline.endOf(holder.open))];
    return [outline.startOf(at), outline.endOf(at)];
  }
  for (let depth = 0; mark() !== '{' && depth < 60; depth += 1)
    number = outline.brackets[number]?.parent ?? -1;
  if (extent === 'declaration') return [at, declarationEnd(code, at, number, outline)];
  let block = outline.brackets[number];
  while (block && isAlways.test(outline.header(block))) block = outline.brackets[block.parent];
  return block ? [block.open, block.close] : [0, code.length];
}

/** Where what is declared behind a mark ends: its block, or its statement. */
function declarationEnd(code: string, from: number, holder: number, outline: Outline): number {
  const form = /[;{}([\])]/g;
  form.lastIndex = from;
  for (let steps = 0; steps < 100; steps += 1) {
    const found = form.exec(code);
    if (!found) return code.length;
    const bracket = bracketAt(outline, found.index);
    if (!bracket) {
      if (/[;}]/.test(found[0]) && outline.around(found.index) === holder) return found.index;
      continue;
    }
    if (bracket.mark === '{') return bracket.close;
    form.lastIndex = bracket.close + 1;
  }
  return from;
}

function byLines(code: string, at: number, extent: Extent, layout: Layout): Span {
  const line = code.lastIndexOf('\n', at) + 1;
  if (extent === 'call') return [line, layout.endOf(line)];
  if (extent === 'block') {
    const [holder] = layout.above(at);
    return holder === undefined ? [0, code.length] : [holder, layout.blockEnd(holder)];
  }
  const indent = code.slice(line, at);
  const form = new RegExp(String.raw`^${indent}(?:(?:async[ \t]+)?def|class|test|property|describe)\b`, 'gm');
  form.lastIndex = at;
  const next = form.exec(code);
  return next ? [at, layout.blockEnd(next.index)] : [at, at];
}

/** Functions that the runner does not collect: nested ones, methods of classes that are not tests, fixtures. */
function uncollected(code: string, layout: Layout): readonly Span[] {
  const spans: Span[] = [];
  for (const { index, 0: said } of code.matchAll(
    /^[ \t]{0,80}(?:(?:async[ \t]+)?def\b[^\n]{0,200}|class[ \t]+[^\n]{1,200}|@(?:\w{1,60}\.){0,6}fixture\b)/gm,
  )) {
    const header = said.trim();
    const end = layout.blockEnd(index);
    if (header.startsWith('@')) spans.push(byLines(code, index + said.indexOf('@'), 'declaration', layout));
    else if (!header.startsWith('class')) spans.push([index + said.length, end]);
    else if (/^class \w+\s*(?:\(\s*(?:object\s*)?\))?\s*:/.test(header)) {
      const isMade = /^[ \t]+def[ \t]+__init__\b/m.test(code.slice(index, Math.min(end, index + 20_000)));
      if (isMade || !header.startsWith('class Test')) spans.push([index, end]);
    }
  }
  return spans;
}

const removal =
  /^[ \t]*(?:del\s+(?:\w{1,80}\.)?(test\w{0,80})|(?:\w{1,80}\.)?(test\w{0,80})(?:\.__test__\s*=\s*False|\s*=\s*None)|(?:del\s+)?globals\(\)(?:\.pop\(|\[)\s*["'](test\w{0,80})|(?:del|set)attr\(\s*\w{1,80}\s*,\s*["'](test\w{0,80}))/gm;

/** Offset at which each name of a Python test is last removed: deleted or reassigned. */
export function removedNames(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(removal)].map((match) => [
      match.slice(1).find((one) => one !== undefined) ?? '',
      match.index,
    ]),
  );
}
