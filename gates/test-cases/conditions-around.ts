import type { Language } from '../../readers/source/language.ts';
import { conditionOf, holdsHere } from './elsewhere.ts';
import { isOutline, type Layout, type Shape } from './layout.ts';
import type { Bracket, Outline } from './outline.ts';
import type { TestCase } from './test-cases.ts';

/** What stands around a declared case, so that it may not be declared. */
export interface Conditions {
  readonly skips: number;
  /** Those that hold where checks are executed. */
  readonly elsewhere: number;
}

const maxDepth = 60;
const conditional =
  /(?:^|[^\w.$#@])(?:if|else|elsif|unless|while|switch|case|catch)\b|&&|\|\||\s\?\s|\.(?:then|catch|finally|on|once|addEventListener)\s*$|^\s*(?:setTimeout|setImmediate|setInterval|queueMicrotask)\s*$/;

/** Conditions around a case, innermost first; read from code, their words from the text. */
export function conditionsAround(
  code: string,
  text: string,
  { start }: Pick<TestCase, 'start'>,
  language: Language,
  shape: Shape,
): Conditions {
  const found = isOutline(shape)
    ? inBraces(code, text, start, language, shape)
    : byIndent(code, text, start, language, shape);
  const elsewhere = found.filter((one) => holdsHere(conditionOf(one) ?? '')).length;
  return { skips: found.length - elsewhere, elsewhere };
}

function inBraces(
  code: string,
  text: string,
  start: number,
  language: Language,
  outline: Outline,
): readonly string[] {
  const found: string[] = [];
  const add = (from: number, to: number): void => {
    const first = Math.max(from, to - 300);
    if (conditional.test(code.slice(first, to))) found.push(text.slice(first, to));
  };
  add(outline.startOf(start), start);
  let number = outline.around(start);
  for (let depth = 0; number >= 0 && depth < maxDepth; depth += 1) {
    const bracket = outline.brackets[number];
    if (!bracket) break;
    add(bracket.start, bracket.open);
    if (bracket.mark === '{' && depth < 3 && isNoSuite(code, bracket, language, outline)) found.push('');
    number = bracket.parent;
  }
  return found;
}

/** A class in which no runner looks for tests: without a base class, or within another without `@Nested`. */
function isNoSuite(code: string, bracket: Bracket, language: Language, outline: Outline): boolean {
  const header = outline.header(bracket);
  if (!/\bclass\s+\w+[^{}]*$/.test(header)) return false;
  if (language === 'php') return !/\bextends\b/.test(header);
  if (language === 'swift')
    return (
      !/:/.test(header) &&
      /\bXCTAssert/.test(code.slice(bracket.open, Math.min(bracket.close, bracket.open + 3_000)))
    );
  if (language !== 'java' || bracket.parent === -1 || /\bstatic\b/.test(header)) return false;
  return !/@Nested\b[^{};]*$/.test(code.slice(Math.max(0, bracket.start - 200), bracket.open));
}

const headers: Readonly<Partial<Record<Language, RegExp>>> = {
  python: /^\s*(?:if|elif|else|while|except)\b/,
  ruby: /^\s*(?:if|elsif|else|unless|while|until|case|when|rescue)\b/,
  elixir: /^\s*(?:if|unless|case|cond|else)\b/,
  shell: /^\s*(?:if|elif|else|while|until|case)\b|<<-?\s*\\?["'\w]/,
};

function byIndent(
  code: string,
  text: string,
  start: number,
  language: Language,
  layout: Layout,
): readonly string[] {
  const form = headers[language];
  if (!form) return [];
  const found = layout.above(start).flatMap((line) => {
    const end = code.indexOf('\n', line);
    if (!form.test(code.slice(line, end))) return [];
    return [text.slice(line, end).replace(/(?::|\bthen|\bdo)\s*$/, '')];
  });
  return language === 'ruby' ? [...found, ...hiddenInRuby(code, start, layout)] : found;
}

/** A method that is private or taken away, or in no class of tests. */
function hiddenInRuby(code: string, start: number, layout: Layout): readonly string[] {
  const name = /^def\s+(test_\w{1,80})/.exec(code.slice(start, start + 100))?.[1];
  const holder = layout.above(start)[0];
  if (name === undefined || holder === undefined) return [];
  const first = code.slice(holder, code.indexOf('\n', holder));
  const found: string[] = [];
  if (/^\s*(?:module\b|class\s+[\w:]+\s*$)/.test(first)) found.push(first);
  const before = code.slice(Math.max(holder, start - 5_000), start);
  const last = [...before.matchAll(/^[ \t]*(private|protected|public)[ \t]*$/gm)].at(-1)?.[1];
  if ((last !== undefined && last !== 'public') || /\b(?:private|protected)[ \t]+$/.test(before))
    found.push('private');
  const after = code.slice(start, start + 20_000);
  if (
    new RegExp(
      String.raw`^[ \t]*(?:private|protected|undef|undef_method|remove_method)\b[ (]+[^\n]{0,200}\b${name}\b`,
      'm',
    ).test(after)
  )
    found.push('undef');
  return found;
}
