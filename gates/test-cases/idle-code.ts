/* Finds code of tests that never runs, and code in which a failed assertion has no effect. */
import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { type Bracket, bracketAt, byIndentation, coverOf, type Shape, type Span } from './blocks.ts';
import { byEnvironment, marks } from './case-forms.ts';

const never = String.raw`(?:false|False|FALSE|0|null|nil|None|undefined|void 0|NaN|!\s*(?:true|1)|not True|""|'')`;
const always = String.raw`(?:true|True|TRUE|1|!\s*(?:false|0)|not False)`;
const alone = String.raw`(?<![\w.$)\]#=!<>+*/%-])(?<![=!<>+*/%&|-][ \t])`;
const each = String.raw`(?:forEach|map|each|flatMap|every|some|for_each|iter|do)\b`;

/** What begins a statement, or a part of one, that never runs. */
const neverRuns = new RegExp(
  [
    String.raw`(?<![\w.$#])(?:if|while|elsif|elseif)\b\s*\(*\s*${never}\s*(?=\)|\{|$|;|:|&&|\band\b|\bdo\b|\bthen\b)`,
    String.raw`(?<![\w.$#])(?:unless|until)\b\s*\(*\s*${always}\s*(?=\)|$|;|\bdo\b)`,
    String.raw`(?<![\w.$#])(?:if|while)\b[^\n{;]{1,200}&&\s*${never}\s*\)\s*(?=\{|[^\s&|])`,
    String.raw`${alone}(?:${never}\s*&&|${always}\s*\|\|)`,
    String.raw`(?<![\w.$])for\b[^\n{;]{1,120}\b(?:of|in)\s*(?:\[\s*\]|\(\s*\)|range\(\s*0\s*\)|0\s*\.\.\s*0\b)`,
    String.raw`(?<![\w.$])for\b[^\n{;]{1,120}\brange\s+\[\]\w[^\n]{0,200}\{\s*\}\s*(?=\{)|(?<![\w.$])foreach\s*\(\s*\[\s*\]`,
    String.raw`(?<![\w.$)\]])(?:\[\s*\]|Array\(0\)|new Array\(\)|0\.times|%w\[\s*\])\s*\.?\s*${each}`,
  ].join('|'),
  'gm',
);

/** What leaves a block. As a statement of its own: what follows in the block does not run. */
const leave =
  /(?<![\w.$])(?:return|throw|raise|next|break|continue|goto|exit!?|die|quit|(?:process|System|Environment|os|sys|pytest)\.(?:exit|Exit|_exit|skip)|process::exit)\b(?!\s*[=:])/g;
const leaveShell = /(?<![\w.$-])(?:return|exit)\b(?=(?:[ \t]+0)?[ \t]*(?:;|$))/gm;
const ifAlways = new RegExp(String.raw`^\s*if\b\s*\(*\s*${always}\b[\s():{]*$`);

/** Parts of code (`test-text.ts`) that never run: under a condition that never holds, behind a `return`. */
export function deadSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  const spans = [...code.matchAll(neverRuns)].map(({ index }): Span => [index, shape.endOf(index)]);
  for (const { index, 0: word } of code.matchAll(language === 'shell' ? leaveShell : leave)) {
    const start = shape.startOf(index);
    const block = shape.brackets[shape.around(index)];
    const said = code.slice(start, index);
    const end = shape.endOf(index);
    const isCall = word === 'next' && /^next\s*[(.;]/.test(code.slice(index, index + 8));
    const isOnCondition = /^[^\n;}]*\s(?:if|unless)\s/.test(code.slice(index, Math.min(end, index + 200)));
    if (block?.mark !== '{' || isCall || isOnCondition) continue;
    if (said.trim() !== '' && !ifAlways.test(said)) continue;
    if (/\b(?:switch|when|match|select)\b/.test(shape.header(block))) continue;
    spans.push([end, hoisted(code, end, block.close)]);
  }
  return spans;
}

/** A function that is declared there is known before. */
function hoisted(code: string, from: number, to: number): number {
  const found = code.slice(from, Math.min(to, from + 5_000)).search(/\b(?:async\s+)?function\s+\w/);
  return found === -1 ? to : from + found;
}

/** Code of a handler that passes a failure on. */
const passesOn =
  /\b(?:throw|rethrow|raise|fail|fails|flunk|assert\w{0,40}|expect\w{0,40}|should\w{0,40}|reject|panic|abort|XCTFail|Fail|Fatal|Fatalf|Error|Errorf|done|next|cb|callback|reraise|exit|die|croak)\b\s*(?:[(!.:=;}\n]|\w|["'$*]|$)|[!=]==?\s*(?:null|undefined)/;
/** Types in a handler that also catch a failed assertion, where a handler names types. */
const takesFailures: Readonly<Partial<Record<Language, RegExp>>> = {
  java: /\b(?:Throwable|\w*Error|\w*Failure)\b/,
  kotlin: /\b(?:Throwable|\w*Error|\w*Failure)\b/,
  scala: /\b(?:Throwable|\w*Error|TestFailedException|Exception|_)\b/,
  csharp: /^\s*$|\b(?:Exception|\w*Assert\w*|Xunit\w*)\b(?!\s*\w*\.)/,
  php: /\b(?:Throwable|Exception|\w*Assertion\w*|ExpectationFailed\w*)\b/,
  c: /\.\.\./,
  python: /^\s*$|\b(?:AssertionError|BaseException|Exception)\b/,
  ruby: /\b(?:Exception|Object|\w*Assertion\w*|ExpectationNotMetError)\b/,
};

const asserts =
  /(?<![\w.])(?:(?:assert|Assert|Assertions)\s*[.(!]|expect\s*(?:\(|\.\w+\s*\()|assert(?:_\w+|[A-Z]\w*)?\s*[(!]|assert\s+\S)|\b(?:EXPECT|ASSERT)_\w+\s*\(|\$this->assert|\bt\.(?:equal|ok|same)\b/;

/** A bracket in which a failure is kept, by what is before it in its statement. */
interface Keeper {
  readonly header: RegExp;
  readonly mark?: '{' | '(';
  /** What is not in the bracket; what does not follow. */
  readonly lacks?: RegExp;
  readonly before?: RegExp;
}

const failures =
  /\b(?:Assertion\w*|XunitException|Throwable|BaseException|Exception|Error|ExpectationNotMetError|TestFailedException)\b/;
const expectsError =
  /(?:^|[^\w$])(?:\w+\.)?(?:assert_?|should)?_?(?:throws|rejects|raises|ThrowsAny|ThrowsException\w*|FailsWith)\s*(?:<[\w.]{0,80}>)?$/i;
const keepers: readonly Keeper[] = [
  {
    header:
      /\bwith\s[^\n]*(?:suppress|raises|assertRaises)\s*\([^\n]*\b(?:AssertionError|BaseException|Exception)\b/,
    mark: '{',
  },
  { header: /\brunCatching$/, mark: '{', before: /^\s*\.\s*(?:getOrThrow|onFailure|is[SF]|exceptionOrNull)/ },
  { header: /\bTry$/, before: /^\s*\.\s*(?:get|isSuccess|isFailure)/ },
  { header: /\bcatch_unwind$|\bEXPECT_(?:NON)?FATAL_FAILURE(?:_ON_ALL_THREADS)?$|\bPromise\.allSettled$/ },
  { header: /\.catch$/, lacks: passesOn },
];
/** A statement of JavaScript with a promise for which nothing waits. */
const floating =
  /^(?:void\s+)?(?:\w*[Aa]ssert\w*(?:\.\w+)?\.(?:rejects|doesNotReject)|expect\b[^;]*\.(?:rejects|resolves)\b[^;]*)$/s;

/** Lines of Ruby and shell that keep a failure. */
const keepingLines: Readonly<Partial<Record<Language, RegExp>>> = {
  ruby: /^[^\n#]{0,300}\S[ \t]+rescue[ \t]+(?:nil|true|false|0|""|'')/gm,
  shell:
    /^[^\n]{0,500}?\|\|[ \t]*(?:true|:|echo\b|printf\b|return(?:[ \t]+0)?[ \t]*(?:;|$)|exit[ \t]+0|\/bin\/true)/gm,
};

/** Parts of code in which a failed assertion has no effect: caught, expected, or in a promise without `await`. */
export function swallowedSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  const spans = [...code.matchAll(keepingLines[language] ?? /$^/g)].map(
    ({ index, 0: line }): Span => [index, index + line.length],
  );
  const inside = ({ open, close }: Bracket): string => code.slice(open + 1, Math.min(close, open + 3_000));
  /** By the place where they end: blocks, of which a handler may follow. */
  const guarded = new Map<number, Bracket>();
  for (const one of [...shape.brackets].reverse()) {
    if (one.mark === '{') guarded.set(one.close, one);
    const header = shape.header(one).trim();
    const holder = shape.brackets[one.parent];
    const isOf = ({ header: form, mark = '(', lacks, before }: Keeper): boolean =>
      one.mark === mark &&
      form.test(header) &&
      !lacks?.test(inside(one)) &&
      !before?.test(code.slice(one.close + 1, one.close + 60));
    const isFloating =
      language === 'javascript' &&
      (!holder || holder.mark === '{') &&
      isOf({ header: floating, before: /^\s*\.\s*\w/ });
    const isExpected =
      one.mark === '(' &&
      expectsError.test(header) &&
      asserts.test(inside(one)) &&
      (language === 'javascript' || failures.test(`${header.slice(-80)} ${inside(one).slice(0, 120)}`));
    if (isFloating || isExpected || keepers.some(isOf)) spans.push([one.start, one.close]);
  }
  for (const { index } of code.matchAll(/(?<![\w.$@:])(?:catch|except|rescue|finally|ensure)\b/g)) {
    const before = byIndentation.has(language)
      ? code.lastIndexOf('\n', index)
      : index - 1 - (/\s*$/.exec(code.slice(Math.max(0, index - 80), index))?.[0].length ?? 0);
    const guard = guarded.get(before);
    const end = shape.endOf(index);
    if (!guard || (byIndentation.has(language) && shape.startOf(index) !== index)) continue;
    for (const place of [end - 1, end]) guarded.set(place, guard);
    const form = language === 'python' ? /^(\w+)([^:\n]*)([\s\S]*)$/ : /^(\w+)([^{;\n]*)([\s\S]*)$/;
    const said = code.slice(index, Math.min(end, index + 3_000));
    const [, word = '', types = '', body = ''] = form.exec(said) ?? [];
    const takes = (takesFailures[language] ?? /^/).test(language === 'scala' ? body : types);
    const isKept = /^(?:finally|ensure)$/.test(word)
      ? /(?:^|[;{}:\n])\s*(?:return|break|continue)\b/.test(body)
      : takes && !passesOn.test(body);
    if (isKept) spans.push([guard.open, guard.close]);
  }
  return spans;
}

/** Offsets where code may leave tests out, in order. */
export function skipMarks(code: string, text: string, language: Language, shape: Shape): readonly number[] {
  const { focus: _, inverts: __, file, ...forms } = marks[language];
  const found = [...Object.values(forms), byEnvironment].flatMap((form) => [...code.matchAll(form)]);
  const offsets = [...found, ...(file ? text.matchAll(file) : [])].map(
    ({ index, 0: mark }) => index + Math.max(0, mark.search(/\S/)),
  );
  return [...new Set(offsets)].filter((at) => !isElsewhere(text, at, shape)).sort((a, b) => a - b);
}

/** Offsets of marks by which only some tests run, or by which one is expected to fail, in order. */
export function otherMarks(text: string, language: Language, kind: 'focus' | 'inverts'): readonly number[] {
  return [...text.matchAll(marks[language][kind] ?? /$^/g)].map(({ index }) => index);
}

const others = String.raw`(?:win(?:32|64|dows(?:_nt)?)?|cygwin|mingw\w*|darwin|mac(?:os)?|osx|aix|freebsd|openbsd|netbsd|sunos|android|ios|wasm\w*|plan9|nt|miri)`;
/** A condition that holds on other platforms than Linux alone: there checks are not executed. */
const onOthers = new RegExp(
  String.raw`^\(*(?:(?:process\.platform|Deno\.build\.os|(?:sys\.|os\.)?platform(?:\.system)?(?:\(\))?|os\.name|(?:runtime\.)?GOOS|RUBY_PLATFORM)\s*(?:===?|=~|\.starts[wW]ith\(|in|eq)\s*[("'/]*|(?:\w+\.)?(?:is|on)_?)?${others}\b["'/)]*\s*(?:$|[,){}:]|\?\s*(["'])[^"'\n]*\1\s*:\s*(?:false|undefined)\b)`,
  'i',
);
const notOnOthers = new RegExp(String.raw`^(?:!|not\s*\()\s*${others}\b`, 'i');

/** Whether a mark leaves tests out on other platforms alone, by its line, its statement or the block around it. */
function isElsewhere(text: string, at: number, shape: Shape): boolean {
  const block = shape.brackets[shape.around(at)];
  const start = Math.max(shape.startOf(at), at - 300);
  const head = block ? text.slice(block.start, Math.min(block.open, block.start + 300)) : '';
  return [text.slice(at, at + 300), text.slice(start, at + 1), head].some((said) => {
    // A condition may go on in the next line.
    const joined = said.trim().replace(/(\()\s+|\s*\n\s*(?=\|\||&&|or\b|and\b|\?)/g, '$1');
    const [line = ''] = joined.split('\n', 1);
    const [lead = '', runs] =
      /^(?:(\/\/go:build|#!?\[\s*cfg\s*\()|\{\s*skip\s*:|(?:.*\.)?skip_?if\s*\(|#\[\s*cfg_attr\s*\(|if\b|@DisabledOnOs\(\s*OS\.)\s*/i.exec(
        line,
      ) ?? [];
    const [condition = ''] = line.slice(lead.length).split(/,\s*reason\s*=/);
    if (lead === '' || line.length > 299) return /^testing\.Short\b/.test(line);
    const holds = (term: string): boolean => (runs ? notOnOthers : onOthers).test(term.trim());
    if (runs) return condition.split('&&').every(holds);
    return condition.split(/\|\||\bor\b/).every((part) => part.split(/&&|\band\b/).some(holds));
  });
}

/** Parts of a text of which no runner runs a case, by marks that hold for certain. */
export function leftOutSpans(
  code: string,
  { text, whole }: Pick<ChangedSource, 'text' | 'whole'>,
  language: Language,
  shape: Shape,
): readonly Span[] {
  const where = language === 'go' || language === 'c' ? text : code;
  const spans: Span[] = [];
  for (const extent of ['call', 'declaration', 'block'] as const)
    for (const { index, 0: mark } of marks[language][extent] ? where.matchAll(marks[language][extent]) : []) {
      const at = index + Math.max(0, mark.search(/\S/));
      spans.push(extentOf(extent, code, at, language, shape));
    }
  if (language === 'python' && whole) spans.push(...uncollected(code, shape));
  return spans;
}

function extentOf(
  extent: 'call' | 'declaration' | 'block',
  code: string,
  at: number,
  language: Language,
  shape: Shape,
): Span {
  let number = shape.around(at);
  const holder = shape.brackets[number];
  if (extent === 'call') {
    // An argument of the call: an option, a name.
    if (holder?.mark === '(' && /^(?:\{|DISABLED_|["'])/.test(code.slice(at, at + 9)))
      return [shape.startOf(holder.open), Math.max(holder.close, shape.endOf(holder.open))];
    return [shape.startOf(at), shape.endOf(at)];
  }
  while (number >= 0 && shape.brackets[number]?.mark !== '{') number = shape.brackets[number]?.parent ?? -1;
  if (extent === 'declaration') return [at, declarationEnd(code, at, number, language, shape)];
  let block = shape.brackets[number];
  while (block && ifAlways.test(shape.header(block))) block = shape.brackets[block.parent];
  return block ? [byIndentation.has(language) ? block.start : block.open, block.close] : [0, code.length];
}

/** Where what is declared behind a mark ends: its block, or its statement. */
function declarationEnd(
  code: string,
  from: number,
  holder: number,
  language: Language,
  shape: Shape,
): number {
  if (byIndentation.has(language)) {
    const indent = code.slice(code.lastIndexOf('\n', from) + 1, from);
    const next = new RegExp(
      String.raw`^${indent}(?:(?:async[ \t]+)?def|class|test|property|describe)\b`,
      'gm',
    );
    next.lastIndex = from;
    return shape.endOf(next.exec(code)?.index ?? from);
  }
  const form = /[;{}([\])]/g;
  form.lastIndex = from;
  for (let steps = 0; steps < 100; steps += 1) {
    const found = form.exec(code);
    if (!found) return code.length;
    const bracket = bracketAt(shape, found.index);
    if (bracket?.mark === '{') return bracket.close;
    if (bracket) form.lastIndex = bracket.close + 1;
    else if (/[;}]/.test(found[0]) && shape.around(found.index) === holder) return found.index;
  }
  return from;
}

/** Functions that the runner does not collect: nested ones, methods of classes that are not tests, fixtures. */
function uncollected(code: string, shape: Shape): readonly Span[] {
  const form =
    /^[ \t]{0,80}(?:(?:async[ \t]+)?def\b[^\n]{0,200}|class[ \t]+(\w+)[ \t]*(\([^\n]{0,200})?|@(?:\w{1,60}\.){0,6}fixture\b)/gm;
  return [...code.matchAll(form)].flatMap(({ index, 0: said, 1: name, 2: bases = '' }): readonly Span[] => {
    const end = shape.endOf(index);
    if (said.includes('@'))
      return [[index, declarationEnd(code, index + said.indexOf('@'), -1, 'python', shape)]];
    if (name === undefined) return [[index + said.length + 1, end]];
    const isMade = /^[ \t]+def[ \t]+__init__\b/m.test(code.slice(index, Math.min(end, index + 20_000)));
    const isPlain = /^(?:\(\s*(?:object\s*)?\))?\s*:?\s*$/.test(bases);
    return isPlain && (isMade || !name.startsWith('Test')) ? [[index, end]] : [];
  });
}

/** Whether an offset is in code that never runs, and whether a failure there is kept. */
export function idleCode(code: string, language: Language, shape: Shape) {
  const dead = deadSpans(code, language, shape);
  return { dead, isDead: coverOf(dead), isSwallowed: coverOf(swallowedSpans(code, language, shape)) };
}
