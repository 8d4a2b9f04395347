/* Reads the test cases of one side of a source, and their assertions. */
import { firstIndex } from '../../readers/source/first-index.ts';
import type { Language } from '../../readers/source/language.ts';
import { readTokens, type Token } from '../../readers/source/tokens/lex.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { assertionsIn, withoutTrivial } from './assertions.ts';
import { type Bracket, blanked, bracketAt, byIndentation, coverOf, type Shape, shapeOf } from './blocks.ts';
import { type CaseKind, caseForms, hidden } from './case-forms.ts';
import { idleCode, leftOutSpans, otherMarks, skipMarks } from './idle-code.ts';
import { assertionCalls, codeText, withoutDeadCode } from './test-text.ts';

/** One declared test case, with the evidence that it asserts. */
export interface TestCase {
  /** As written; empty where the language names none. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** It is left out for certain. */
  readonly isIdle: boolean;
  /** The code up to the next case, without name, comments and layout. It tells a renamed case from a new one. */
  readonly body: string;
  /** Numbers of effective assertions, of those that never run, of those whose failure is kept, and of marks. */
  readonly assertions: number;
  readonly unreached: number;
  readonly swallowed: number;
  readonly skips: number;
  /** Something is left of its body without what is never reached and assertions that can never fail. */
  saysAnything(): boolean;
  /** Names of functions that it calls, or hands on. */
  called(): ReadonlySet<string>;
  readonly source: ChangedSource;
}

/** What one side of a test file holds. */
export interface TestFile {
  readonly source: ChangedSource;
  readonly code: string;
  readonly cases: readonly TestCase[];
  /** Offsets of effective assertions: they run, and their failure reaches the runner. */
  readonly heard: readonly number[];
  /** Offsets of marks that are not on a case. They may leave out a group, or the whole file. */
  readonly skips: readonly number[];
  readonly focuses: readonly number[];
  /** Names of functions that assert and are no cases. */
  helpers(): ReadonlySet<string>;
}

const maxBody = 20_000;

/** The code of a source, and its statements and blocks. */
export function readCode(source: ChangedSource, language: Language) {
  const text = withoutDeadCode(source.text, language);
  const tokens = language === 'shell' ? [] : readTokens(text, language, source.whole);
  const code =
    language === 'shell'
      ? text.replace(/^[ \t]*#[^\n]*/gm, (line) => ' '.repeat(line.length))
      : codeText(text, tokens);
  return { text, tokens, code, shape: shapeOf(code, language), language };
}

type Place = ReturnType<typeof readCode>;

/** Reads one side of a test file. Cases in comments and strings are none. */
export function readTests(source: ChangedSource, language: Language): TestFile {
  const place = readCode(source, language);
  const { text, code, shape } = place;
  const { dead, isDead, isSwallowed } = idleCode(code, language, shape);
  const isLeftOut = coverOf(leftOutSpans(code, source, language, shape));
  const declared = declaredCases(place);
  const nameOf = ({ name: [from, to] = [0, 0] }: Declared): string =>
    text.slice(from, Math.min(to, from + 500));
  const isTaken =
    language === 'python' && source.whole
      ? takenNames(
          place,
          declared.map((one) => [nameOf(one), one.start]),
        )
      : undefined;
  const calls = language === 'javascript' ? assertionCalls(source.text, code) : [];
  const asserted = [...new Set([...assertionsIn(code, language), ...calls])].sort((a, b) => a - b);
  const reached = asserted.filter((at) => !isDead(at));
  const heard = reached.filter((at) => !isSwallowed(at));
  const unreached = asserted.filter(isDead);
  const swallowed = reached.filter(isSwallowed);
  const marks = skipMarks(code, source.text, language, shape);
  const inverting = otherMarks(source.text, language, 'inverts').filter(
    (at) => language === 'php' || /\S/.test(code[at] ?? ''),
  );
  let living: string | undefined;
  const alive = (from: number, to: number): string => {
    living ??= withoutTrivial(blanked(code, dead));
    return living.slice(from, Math.min(to, from + maxBody));
  };
  const onCases = new Set<number>();
  let before = 0;
  const cases = declared.map((one, index): TestCase => {
    const { start, end, body, inside = body && body.open + 1 } = one;
    const head = headOf(code, start, before, language);
    before = Math.max(before, end);
    for (const at of marks) if (at >= head && at < end) onCases.add(at);
    const starts = [start, one.name?.[0] ?? start, body ? body.open + 1 : start];
    const next = declared[index + 1]?.start ?? text.length;
    return {
      name: nameOf(one),
      start,
      end,
      isIdle: one.isHidden || isTaken?.(nameOf(one), start) || isDead(start) || starts.some(isLeftOut),
      body:
        language === 'shell'
          ? code.slice(inside, Math.min(end, next)).replace(/\s+/g, ' ')
          : saidBetween(place.tokens, start, Math.min(end, next), starts[1] ?? start),
      assertions: within(heard, start, end),
      unreached: within(unreached, start, end),
      swallowed: within(swallowed, start, end) + within(inverting, head, end),
      skips: within(marks, head, end),
      saysAnything: () =>
        inside === undefined ||
        /\b(?!(?:end|done|return|pass|void|None|true|0)\b)\w/.test(alive(inside, end)),
      called: () => calledIn(alive(start, end)),
      source,
    };
  });
  return {
    source,
    code,
    heard,
    cases,
    // Rust keeps tests beside the product: a mark there counts on a module of tests, or on the file.
    skips: marks.filter(
      (at) =>
        !onCases.has(at) &&
        (language !== 'rust' ||
          /^#!|^#\[[^\n]{0,200}\]\s*(?:pub\s+)?mod\s+\w{0,40}tests?\b/.test(source.text.slice(at, at + 400))),
    ),
    focuses: otherMarks(code, language, 'focus'),
    helpers: () => helpersIn(place, heard, new Set(cases.map(({ name }) => name))),
  };
}

/** Names before a bracket, a blank or the end of an argument: called, or passed as a callback. */
export function calledIn(body: string): ReadonlySet<string> {
  return new Set([...body.matchAll(/\b([A-Za-z_]\w{0,79})[!?]?\s*[( ,)]/g)].map(([, name = '']) => name));
}

const helperForm =
  /\b(?:function\s*\*?|defp?|func?|fn|sub|void|boolean|bool|Task)\s+(?:self\.|\([^()\n]{0,100}\)\s*)?(\w{1,80})\s*[(<{\n]|\b(?:const|let|var)\s+(\w{1,80})\s*(?::[^=\n]{0,80})?=\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*(?::[^=\n]{0,80})?=>|\w{1,40}\s*=>)|^[ \t]*(?:function[ \t]+)?(?:static[ \t]+\w+[ \t]+)?(?!(?:if|for|while|switch|catch|function)\b)(\w{1,80})\s*\([^()\n]{0,300}\)\s*\{/gm;

/** Names of functions with assertions, and of those that call them. */
function helpersIn(
  { code, shape }: Place,
  heard: readonly number[],
  cases: ReadonlySet<string>,
): ReadonlySet<string> {
  const judging = new Set<string>();
  const others: (readonly [name: string, body: string])[] = [];
  for (const { 0: said, 1: a, 2: b, 3: c, index } of code.matchAll(helperForm)) {
    const [name = '', from] = [a ?? b ?? c, index + said.length];
    const end = shape.endOf(index + Math.max(0, said.search(/\S/)));
    if (cases.has(name)) continue;
    if (within(heard, from, end) > 0) judging.add(name);
    else if (others.length < 500) others.push([name, code.slice(from, Math.min(end, from + 5_000))]);
  }
  for (let round = 0; round < 2; round += 1)
    for (const [name, body] of others)
      if ([...calledIn(body)].some((one) => judging.has(one))) judging.add(name);
  return judging;
}

/** Number of sorted offsets in the range `[from, to)`. */
function within(offsets: readonly number[], from: number, to: number): number {
  const before = (least: number): number => firstIndex(offsets.length, (at) => (offsets[at] ?? 0) < least);
  return Math.max(0, before(to) - before(from));
}

/** Start of the lines before a case's name that belong to the case. */
function headOf(code: string, start: number, before: number, language: Language): number {
  if (language === 'perl') return start;
  const least = Math.max(before, start - 600);
  if (language !== 'rust') return Math.min(start, least);
  const attributes = /(?:(?<=^|\n)[ \t]*(?:#!?\[[^\n]*)?\n){0,12}[^\n]*$/.exec(code.slice(least, start));
  return start - (attributes?.[0].length ?? 0);
}

const removal =
  /^[ \t]*(?:del\s+(?:\w{1,80}\.)?(test\w{0,80})|(?:\w{1,80}\.)?(test\w{0,80})(?:\.__test__\s*=\s*False|\s*=\s*None)|(?:del\s+)?globals\(\)(?:\.pop\(|\[)\s*["'](test\w{0,80})|(?:del|set)attr\(\s*\w{1,80}\s*,\s*["'](test\w{0,80}))/gm;

/** Whether a name of Python is deleted, or given to a later function, behind an offset. */
function takenNames(
  { text, shape }: Place,
  named: readonly (readonly [name: string, at: number])[],
): (name: string, at: number) => boolean {
  const placeOf = (name: string, at: number): string => `${shape.around(at)} ${name}`;
  const last = new Map<string, number>(named.map(([name, at]) => [placeOf(name, at), at]));
  const removed = new Map<string, number>();
  for (const { index, 1: a, 2: b, 3: c, 4: d } of text.matchAll(removal))
    removed.set(a ?? b ?? c ?? d ?? '', index);
  return (name, at) => (removed.get(name) ?? -1) > at || (last.get(placeOf(name, at)) ?? at) > at;
}

/** Tokens between two offsets, without those of a name. */
function saidBetween(tokens: readonly Token[], from: number, to: number, name: number): string {
  const said: string[] = [];
  for (
    let at = firstIndex(tokens.length, (one) => (tokens[one]?.start ?? 0) < from);
    at < tokens.length;
    at += 1
  ) {
    const token = tokens[at];
    if (!token || token.start >= to) break;
    if (token.kind !== 'newline' && token.start !== name && token.start !== name - 1) said.push(token.text);
  }
  return said.join(' ');
}

/** A name: where it begins and ends. */
type Named = readonly [from: number, to: number] | undefined;

/** A case as it is declared. */
interface Declared {
  readonly start: number;
  /** Absent where it has none, or works it out. */
  readonly name?: Named;
  readonly body?: Bracket | undefined;
  /** Where its body begins, if no bracket opens it. */
  readonly inside?: number;
  readonly end: number;
  readonly isHidden?: boolean;
}

function declaredCases(place: Place): readonly Declared[] {
  const { code, text, language } = place;
  const found = new Map<number, Declared>();
  // A word of Kotlin opens a case only in a class of Kotest.
  const { trailing, ...others } = caseForms[language];
  const forms = language !== 'kotlin' || /\b\w{1,60}Spec\b/.test(code) ? { trailing, ...others } : others;
  for (const [kind, form] of Object.entries(forms))
    for (const match of form ? (kind === 'comment' ? text : code).matchAll(form) : []) {
      const one = readers[kind as CaseKind](match, place);
      const key = one?.name?.[0] ?? one?.start;
      if (one && key !== undefined && !found.has(key)) found.set(key, one);
    }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

type Reader = (match: RegExpExecArray, place: Place) => Declared | undefined;

const marked: Reader = ({ index, 0: said }, place) => {
  const { code, language, shape } = place;
  const found = functionBehind(code, index + said.length, shape, language);
  if (!found) return undefined;
  const isHidden = hidden[language]?.test(code.slice(index + said.length, found.name[0])) ?? false;
  return { ...withBody(found.start ?? index, found.name[1], place), name: found.name, isHidden };
};

const readers: Readonly<Record<CaseKind, Reader>> = {
  function({ index, 0: said }, place) {
    const { code, language } = place;
    const end = index + said.length;
    const own = /\w+[?!]?$/.exec(said);
    const isHidden = hidden[language]?.test(code.slice(code.lastIndexOf('\n', index) + 1, index)) ?? false;
    const name = own ? ([index + own.index, end] as const) : textIn(code, end, end + 1);
    return { ...withBody(index, end, place), name, isHidden };
  },
  marked,
  comment: marked,
  call({ index, 0: said }, { code, shape }) {
    const given = lastCall(code, index + said.length, shape);
    if (!given) return undefined;
    const [first = given.close, second = given.close, ...more] = argumentsOf(code, given, shape);
    const isMember = code
      .slice(Math.max(0, index - 22), index)
      .trimEnd()
      .endsWith('.');
    const body = shape.brackets[given.body ?? shape.brackets[given.last ?? -1]?.body ?? -1];
    const name = textIn(code, first, first + 1);
    const one = { start: index, name, body, end: given.close };
    if (said === 'Run')
      return second < given.close && more.length === 0 && (name || code.startsWith('func', second))
        ? one
        : undefined;
    // `Deno.test({ name: "…", fn() {} })`, `Deno.test(function adds() {})`.
    if (isMember && body && /^(?:\{|(?:async\s+)?function\b)/.test(code.slice(first, first + 40))) {
      const key = /\bname\s{0,9}:\s{0,9}/.exec(code.slice(first, first + 300));
      const at = first + (key ? key.index + key[0].length : 0);
      return { ...one, name: key ? textIn(code, at, at + 1) : undefined };
    }
    // `pattern.test(value, flag)` is something else.
    return second === given.close || ((isMember || /^[xf]/.test(said)) && !name) ? undefined : one;
  },
  trailing({ index, 0: said }, { code, text, shape }) {
    let at = index + said.length;
    let name: Named = said.startsWith('"') ? [index + 1, at - 1] : undefined;
    for (let count = 0; count < 4; count += 1) {
      const before = /^\s{0,80}(?:\.\s{0,20}\w{1,40}\s{0,20})?\(/.exec(code.slice(at, at + 240));
      const group = before ? bracketAt(shape, at + before[0].length - 1) : undefined;
      if (!group) break;
      const [first = group.close, second = first] = argumentsOf(code, group, shape);
      const word = /CASE|SCENARIO/.test(said) ? first : second;
      name ??= textIn(code, first, first + 1) ??
        textIn(code, second, second + 1) ?? [word, word + wordAt(code, word).length];
      at = group.close + 1;
    }
    const body = openFrom(code, at, shape);
    return (
      body && {
        start: index,
        name,
        body,
        end: body.close,
        isHidden: name !== undefined && text[name[0]] === '!',
      }
    );
  },
  block({ index, 0: said }, { code, shape, language }) {
    const end = index + said.length;
    const name = textIn(code, index, end);
    if (byIndentation.has(language)) return { start: index, name, inside: end, end: shape.endOf(index) };
    const body = said.endsWith('{') ? bracketAt(shape, end - 1) : openFrom(code, end, shape);
    return { start: index, name, body, end: body?.close ?? shape.endOf(end) };
  },
  assertion({ index, 0: said }, { code, shape }) {
    const end = shape.endOf(index + said.length);
    const from = Math.max(index, end - 300);
    const last = /(["'])[^"'\n]*\1[\s;)]*$/.exec(code.slice(from, end));
    const at = from + (last?.index ?? 0) + 1;
    return { start: index, name: last ? [at, code.indexOf(last[1] ?? '', at)] : undefined, end };
  },
};

/** A function with parameters from `from` on, or with a block bounded by indentation. */
function withBody(start: number, from: number, { code, shape, language }: Place): Declared {
  if (byIndentation.has(language)) {
    const line =
      /^[^\n]*?(?:\([^()]{0,1000}(?:\([^()]{0,300}\)[^()]{0,1000}){0,20}\))?[^\n:{;]{0,200}[:{;\n]/.exec(
        code.slice(from, from + 4_000),
      );
    return { start, inside: from + (line?.[0].length ?? 0), end: shape.endOf(start) };
  }
  const at = code.indexOf('(', from);
  const given = at === -1 ? undefined : bracketAt(shape, at);
  const after = given && at < from + 400 ? given.close + 1 : from;
  const body = openFrom(code, after, shape);
  return { start, body, end: body?.close ?? shape.endOf(after) };
}

/** The text that begins from an offset on, and before another; without its quotes. */
function textIn(code: string, from: number, to: number): Named {
  const found = /["'`]/.exec(code.slice(from, Math.min(to, from + 400)));
  if (!found) return undefined;
  const at = from + found.index;
  const end = code.indexOf(found[0], at + 1);
  return end === -1 ? undefined : [at + 1, end];
}

const step = /\s+|@[\w.:]+|#|[\w.<>,?&*:\\-]+|`[^`\n]{0,300}`|[([\]]/y;
const keyword = /^(?:fn|fun|func|def|function)$/;
const type = /^(?:class|interface|object|record|trait|struct|extension|actor|enum|mod|impl)$/;
const needsKeyword: ReadonlySet<Language> = new Set(['kotlin', 'scala', 'rust', 'swift', 'php']);

/** The function that is declared behind a mark, over other marks, modifiers and types. */
function functionBehind(
  code: string,
  from: number,
  shape: Shape,
  language: Language,
): { readonly name: readonly [number, number]; readonly start?: number } | undefined {
  let last: readonly [from: number, to: number] = [from, from];
  let start: number | undefined;
  for (let at = from, steps = 0; steps < 200; steps += 1) {
    step.lastIndex = at;
    const [said] = step.exec(code) ?? [];
    if (said === undefined || type.test(said)) return undefined;
    if (/^[\w`]/.test(said) && keyword.test(code.slice(...last))) {
      if (said.startsWith('`')) return { name: [at + 1, at + said.length - 1], start: last[0] };
      return { name: [at, at + wordAt(code, at).length], start: last[0] };
    }
    if (said === '(' || said === '[') {
      if (said === '(' && /^\w+$/.test(code.slice(...last)) && !needsKeyword.has(language))
        return { name: last, ...(start === undefined ? {} : { start }) };
      at = (bracketAt(shape, at)?.close ?? code.length) + 1;
      last = [at, at];
      continue;
    }
    if (said.trim() !== '') last = [at, at + said.length];
    at += said.length;
  }
  return undefined;
}

function wordAt(code: string, at: number): string {
  return /^\w*/.exec(code.slice(at, at + 200))?.[0] ?? '';
}

/** The brackets of the last call in a chain: `it.each(rows)(…)`. */
function lastCall(code: string, from: number, shape: Shape): Bracket | undefined {
  for (let at = from, count = 0; count < 12; count += 1) {
    const [, sign = ''] =
      /^(?:\s{0,80}\.\s{0,80}[\w$]{1,60})*(?:<(?:[^<>()]|<[^<>()]{0,100}>){0,100}>)?\s{0,80}([(`])/.exec(
        code.slice(at, at + 600),
      ) ?? [];
    const open = sign === '' ? -1 : code.indexOf(sign, at);
    const bracket = sign === '(' ? bracketAt(shape, open) : undefined;
    const close = bracket?.close ?? (sign === '`' ? code.indexOf('`', open + 1) : -1);
    if (close === -1) return undefined;
    if (bracket && !/^\s{0,80}[(`]/.test(code.slice(close + 1, close + 90))) return bracket;
    at = close + 1;
  }
  return undefined;
}

/** Where the arguments in brackets begin; the first four. */
function argumentsOf(code: string, { open, close }: Bracket, shape: Shape): readonly number[] {
  const starts: number[] = [];
  for (let from = open + 1; from < close && starts.length < 4; ) {
    const end = Math.min(close, shape.endOf(from));
    const ink = code.slice(from, end).search(/[^\s,]/);
    if (ink !== -1) starts.push(from + ink);
    if (end <= from) break;
    from = end;
  }
  return starts;
}

/** The block that opens behind an offset, before the statement ends. */
function openFrom(code: string, from: number, shape: Shape): Bracket | undefined {
  const found = /^[^;{}@]{0,300}\{/.exec(code.slice(from, from + 310));
  return found ? bracketAt(shape, from + found[0].length - 1) : undefined;
}
