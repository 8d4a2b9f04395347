/* Reads the test cases of a source. */
import { firstIndex } from '../../readers/source/first-index.ts';
import type { Language } from '../../readers/source/language.ts';
import { readTokens, type Token } from '../../readers/source/tokens/lex.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import {
  type Bracket,
  bracketAt,
  coverOf,
  isOutline,
  layoutOf,
  type Outline,
  outlineOf,
  type Shape,
  withoutBraces,
} from './blocks.ts';
import { type CaseKind, caseForms, formsIn, hidden } from './case-forms.ts';
import { leftOutSpans, removedNames } from './skip-marks.ts';
import { codeText, shellCode, withoutDeadCode } from './test-text.ts';

/** One declared test case. */
export interface TestCase {
  /** As written; empty where the language names none. */
  readonly name: string;
  readonly start: number;
  /** Behind its body; where none is seen, the start of the next case. */
  readonly end: number;
  /** Where its body begins, behind the bracket; absent where no bracket is seen. */
  readonly inside?: number;
  /** It is left out for certain. */
  readonly isIdle: boolean;
  /**
   * The code up to the next case, without name, comments and layout. It distinguishes a renamed case from a new one.
   */
  readonly body: string;
}

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

/**
 * What a source declares, idle cases included, and its code: of the same length, without comments and what strings
 * hold; with its statements and blocks.
 */
export interface ReadTests {
  readonly cases: readonly TestCase[];
  readonly code: string;
  readonly shape: Shape;
}

/** Reads the cases of a source, in order. Those in comments and strings are none. */
export function readTests(source: ChangedSource, language: Language): ReadTests {
  if (language === 'shell') {
    const code = shellCode(source.text);
    return { cases: shellCases(source.text), code, shape: layoutOf(code, language) };
  }
  const text = withoutDeadCode(source.text, language);
  const tokens = readTokens(text, language, source.whole);
  const code = codeText(text, tokens);
  const shape = withoutBraces.has(language) ? layoutOf(code, language) : outlineOf(code);
  const isLeftOut = coverOf(leftOutSpans(code, source, language, shape));
  const declared = declaredCases(code, text, language, shape);
  const nameOf = ({ name, start }: Declared): string => {
    const [from, to] = name ?? [start, start];
    return text.slice(from, Math.min(to, from + 500));
  };
  const removed = language === 'python' ? removedNames(text) : undefined;
  const last = new Map<string, number>();
  const placeOf = (one: Declared): string =>
    `${isOutline(shape) ? '' : shape.above(one.start)[0]} ${nameOf(one)}`;
  if (removed && source.whole) for (const [index, one] of declared.entries()) last.set(placeOf(one), index);
  /** Whether a name of Python is deleted, or given to a later function. */
  const isTaken = (index: number): boolean => {
    const one = declared[index];
    if (!one || !removed) return false;
    return (removed.get(nameOf(one)) ?? -1) > one.start || (last.get(placeOf(one)) ?? index) > index;
  };
  const cases = declared.map((one, index): TestCase => {
    const { start, name, body, inside, end, isHidden = false } = one;
    const next = declared[index + 1]?.start ?? text.length;
    const [from] = name ?? [start];
    return {
      name: nameOf(one),
      start,
      end,
      ...(body ? { inside: body.open + 1 } : inside === undefined ? {} : { inside }),
      isIdle:
        isHidden ||
        isTaken(index) ||
        isLeftOut(start) ||
        isLeftOut(from) ||
        (body !== undefined && isLeftOut(body.open + 1)),
      body: saidBetween(tokens, start, Math.min(end, next), from),
    };
  });
  return { cases, code, shape };
}

function declaredCases(code: string, text: string, language: Exclude<Language, 'shell'>, shape: Shape) {
  const found = new Map<number, Declared>();
  // A word of Kotlin opens a case only in a class of Kotest.
  const isSpec = language !== 'kotlin' || /\b\w{1,60}Spec\b/.test(code);
  for (const [kind, form] of formsIn(caseForms[language]))
    for (const match of (kind === 'comment' ? text : code).matchAll(form)) {
      if (kind === 'trailing' && !isSpec) continue;
      const one = readers[kind === 'comment' ? 'marked' : kind](match, { code, text, language, shape });
      const key = one?.name?.[0] ?? one?.start;
      if (one && key !== undefined && !found.has(key)) found.set(key, one);
    }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

interface Place {
  readonly code: string;
  readonly text: string;
  readonly language: Language;
  readonly shape: Shape;
}

type Reader = (match: RegExpExecArray, place: Place) => Declared | undefined;

/** A name: where it begins and ends. */
type Named = readonly [from: number, to: number] | undefined;

const readers: Readonly<Record<CaseKind, Reader>> = {
  function({ index, 0: said }, place) {
    const { code, language } = place;
    const end = index + said.length;
    const own = /(?<=[\s)])\w+[?!]?$/.exec(said);
    const line = code.slice(code.lastIndexOf('\n', index) + 1, index);
    const isHidden = hidden[language]?.test(line) ?? false;
    return withBody(
      index,
      end,
      own ? [index + own.index, end] : textIn(place, end, end + 1),
      place,
      isHidden,
    );
  },
  marked({ index, 0: said }, place) {
    const { code, language, shape } = place;
    const found = isOutline(shape) ? functionBehind(code, index + said.length, shape, language) : undefined;
    if (!found) return undefined;
    const { name, words, start = index } = found;
    const at = language === 'kotlin' || language === 'scala' ? index : start;
    return withBody(at, name[1], name, place, hidden[language]?.test(words) ?? false);
  },
  call({ index, 0: said }, place) {
    const { code, shape } = place;
    const given = isOutline(shape) ? lastCall(code, index + said.length, shape) : undefined;
    if (!given || !isOutline(shape)) return undefined;
    const starts = argumentsOf(code, given, shape);
    const [first = given.close, second = given.close] = starts;
    const isMember = /\.\s{0,20}$/.test(code.slice(Math.max(0, index - 22), index));
    const body = bodyIn(given, shape);
    const name = textIn(place, first, first + 1);
    const one = { start: index, name, body, end: given.close };
    if (said === 'Run')
      return starts.length === 2 && (name || code.startsWith('func', second)) ? one : undefined;
    // `Deno.test({ name: "…", fn() {} })`, `Deno.test(function adds() {})`.
    if (isMember && body && /^(?:\{|(?:async\s+)?function\b)/.test(code.slice(first, first + 40))) {
      const key = /\bname\s{0,9}:\s{0,9}/.exec(code.slice(first, first + 300));
      const at = first + (key ? key.index + key[0].length : 0);
      return { ...one, name: key ? textIn(place, at, at + 1) : undefined };
    }
    // `pattern.test(value, flag)` is something else.
    return starts.length < 2 || ((isMember || /^[xf]/.test(said)) && !name) ? undefined : one;
  },
  trailing({ index, 0: said }, place) {
    const { code, text, shape } = place;
    if (!isOutline(shape)) return undefined;
    let at = index + said.length;
    let name: Named = said.startsWith('"') ? [index + 1, at - 1] : undefined;
    for (let count = 0; count < 4; count += 1) {
      const before = /^\s{0,80}(?:\.\s{0,20}\w{1,40}\s{0,20})?\(/.exec(code.slice(at, at + 240));
      const group = before ? bracketAt(shape, at + before[0].length - 1) : undefined;
      if (!group) break;
      name ??= nameAmong(argumentsOf(code, group, shape), /CASE|SCENARIO/.test(said), place);
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
  block({ index, 0: said }, place) {
    const { code, shape } = place;
    const end = index + said.length;
    const name = textIn(place, index, end);
    if (!isOutline(shape)) return { start: index, name, inside: end, end: shape.endOf(index) };
    const body = said.endsWith('{') ? bracketAt(shape, end - 1) : openFrom(code, end, shape);
    return { start: index, name, body, end: body?.close ?? shape.endOf(end) };
  },
  assertion({ index, 0: said }, { code, shape }) {
    const end = isOutline(shape) ? shape.endOf(index + said.length) : index;
    const from = Math.max(index, end - 300);
    const last = /(["'])[^"'\n]*\1[\s;)]*$/.exec(code.slice(from, end));
    const at = from + (last?.index ?? 0) + 1;
    return { start: index, name: last ? [at, code.indexOf(last[1] ?? '', at)] : undefined, end };
  },
};

/** A function with parameters from `from` on, or with a block bounded by indentation. */
function withBody(
  start: number,
  from: number,
  name: Named,
  { code, shape, language }: Place,
  isHidden: boolean,
): Declared {
  if (!isOutline(shape))
    return {
      start,
      name,
      isHidden,
      inside: behindParameters(code, from),
      end: language === 'python' ? shape.blockEnd(start) : shape.endOf(start),
    };
  const at = code.indexOf('(', from);
  const given = at === -1 ? undefined : bracketAt(shape, at);
  const after = given && at < from + 400 ? given.close + 1 : from;
  const body = openFrom(code, after, shape);
  return { start, name, body, isHidden, end: body?.close ?? shape.endOf(after) };
}

/** Offset after the parameter list and the return type. */
function behindParameters(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < from + 1_000 && at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (depth === 0 && (sign === ':' || sign === '\n')) return at + 1;
  }
  return from;
}

/** The text that begins from an offset on, and before another; without its quotes. */
function textIn({ code }: Place, from: number, to: number): Named {
  const found = /["'`]/.exec(code.slice(from, Math.min(to, from + 400)));
  if (!found) return undefined;
  const at = from + found.index;
  const end = code.indexOf(found[0], at + 1);
  return end === -1 ? undefined : [at + 1, end];
}

function nameAmong(starts: readonly number[], isFirst: boolean, place: Place): Named {
  const text = starts.map((at) => textIn(place, at, at + 1)).find((one) => one);
  const at = isFirst ? starts[0] : (starts[1] ?? starts[0]);
  if (text || at === undefined) return text;
  return [at, at + (/^\w*/.exec(place.code.slice(at, at + 200))?.[0].length ?? 0)];
}

const step = /\s+|@[\w.:]+|#|[\w.<>,?&*:\\-]+|`[^`\n]{0,300}`|[([\]]/y;
const keyword = /^(?:fn|fun|func|def|function)$/;
const type = /^(?:class|interface|object|record|trait|struct|extension|actor|enum|mod|impl)$/;

/** The function that is declared behind a mark, over other marks, modifiers and types; and the words on the way. */
function functionBehind(
  code: string,
  from: number,
  outline: Outline,
  language: Language,
): { readonly name: readonly [number, number]; readonly words: string; readonly start?: number } | undefined {
  let last: readonly [from: number, to: number] = [from, from];
  let words = '';
  let start = -1;
  let isAfterKeyword = false;
  for (let at = from, steps = 0; steps < 200; steps += 1) {
    step.lastIndex = at;
    const [said] = step.exec(code) ?? [];
    if (said === undefined) return undefined;
    const isName = /^[\w`]/.test(said);
    if (isName && isAfterKeyword)
      return {
        name: said.startsWith('`') ? [at + 1, at + said.length - 1] : [at, at + wordLength(said)],
        words,
        start,
      };
    if (said === '(' || said === '[') {
      const before = code.slice(last[0], last[1]);
      if (said === '(' && isWord(before) && !needsKeyword.has(language)) return { name: last, words };
      at = (bracketAt(outline, at)?.close ?? code.length) + 1;
      last = [at, at];
      continue;
    }
    if (type.test(said)) return undefined;
    if (said.trim() !== '') last = [at, at + said.length];
    if (isName) words += ` ${said}`;
    if (keyword.test(said)) start = at;
    isAfterKeyword = keyword.test(said) || (isAfterKeyword && said.trim() === '');
    at += said.length;
  }
  return undefined;
}

const needsKeyword: ReadonlySet<Language> = new Set(['kotlin', 'scala', 'rust', 'swift', 'php']);

function isWord(text: string): boolean {
  return /^\w+$/.test(text);
}

function wordLength(text: string): number {
  return /^\w*/.exec(text)?.[0].length ?? 0;
}

/** The brackets of the last call in a chain: `it.each(rows)(…)`. */
function lastCall(code: string, from: number, outline: Outline): Bracket | undefined {
  let at = from;
  for (let count = 0; count < 12; count += 1) {
    const [, sign = ''] =
      /^(?:\s{0,80}\.\s{0,80}[\w$]{1,60})*(?:<(?:[^<>()]|<[^<>()]{0,100}>){0,100}>)?\s{0,80}([(`])/.exec(
        code.slice(at, at + 600),
      ) ?? [];
    if (sign === '') return undefined;
    const open = code.indexOf(sign, at);
    if (sign === '`') {
      at = code.indexOf('`', open + 1) + 1;
      if (at === 0) return undefined;
      continue;
    }
    const bracket = bracketAt(outline, open);
    if (!bracket) return undefined;
    if (!/^\s{0,80}[(`]/.test(code.slice(bracket.close + 1, bracket.close + 90))) return bracket;
    at = bracket.close + 1;
  }
  return undefined;
}

/** Where the arguments in brackets begin; the first 50. */
function argumentsOf(code: string, { open, close }: Bracket, outline: Outline): readonly number[] {
  const starts: number[] = [];
  for (let from = open + 1; from < close && starts.length < 50; ) {
    const end = Math.min(close, outline.endOf(from));
    const ink = code.slice(from, end).search(/[^\s,]/);
    if (ink !== -1) starts.push(from + ink);
    if (end <= from) break;
    from = end;
  }
  return starts;
}

/** The block of the last function among arguments, or in the object that is one. */
function bodyIn(given: Bracket, outline: Outline): Bracket | undefined {
  let before = given.close;
  for (let count = 0; count < 4; count += 1) {
    let one = lastBefore(outline, before);
    const chain: Bracket[] = [];
    for (let depth = 0; one && one !== given && one.open > given.open && depth < 60; depth += 1) {
      chain.push(one);
      one = outline.brackets[one.parent];
    }
    if (one !== given) return undefined;
    const own = chain.at(-1);
    if (!own) return undefined;
    const body = [own, chain.at(-2)].find(
      (other) =>
        other?.mark === '{' &&
        /(?:=>|\)(?:\s*:[^={}]{0,80})?|\bfunc\b.{0,80})\s*$/.test(outline.header(other)),
    );
    if (body) return body;
    before = own.open;
  }
  return undefined;
}

function lastBefore({ brackets }: Outline, offset: number): Bracket | undefined {
  return brackets[firstIndex(brackets.length, (at) => (brackets[at]?.open ?? 0) < offset) - 1];
}

/** The block that opens behind an offset, before the statement ends. */
function openFrom(code: string, from: number, outline: Outline): Bracket | undefined {
  const found = /^[^;{}@]{0,300}\{/.exec(code.slice(from, from + 310));
  return found ? bracketAt(outline, from + found[0].length - 1) : undefined;
}

/** Tokens between two offsets, without those of a name. */
function saidBetween(tokens: readonly Token[], from: number, to: number, name: number): string {
  const low = firstIndex(tokens.length, (at) => (tokens[at]?.start ?? 0) < from);
  const said: string[] = [];
  for (let at = low; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (!token || token.start >= to) break;
    const isName = token.start === name || token.start === name - 1;
    if (token.kind !== 'newline' && !isName) said.push(token.text);
  }
  return said.join(' ');
}

/** Bats `@test "…" {` and functions `test_…()`. A line of this form in a here-document counts too. */
function shellCases(text: string): readonly TestCase[] {
  const form =
    /^[ \t]*(?:@test[ \t]+(["'])(.{1,500}?)\1[ \t]*\{|(?:function[ \t]+)?(test_?\w{1,200})[ \t]*\(\)[ \t]*\{?)/gm;
  const found = [...text.matchAll(form)];
  return found.map((match, index): TestCase => {
    const start = match.index;
    const end = found[index + 1]?.index ?? text.length;
    const inside = start + match[0].length;
    const body = text
      .slice(inside, end)
      .replace(/^\s*#.*$/gm, '')
      .replace(/\s+/g, ' ');
    const isIdle = /^\s*\{?\s*(?:\}|skip\b|return\s*(?:0\s*)?[;}]|(?::|true)\s*;?\s*\}\s*$)/.test(body);
    return { name: match[2] ?? match[3] ?? '', start, end, inside, isIdle, body };
  });
}
