import type { Language } from '../../readers/source/language.ts';
import type { Shape } from './blocks.ts';

/** A function that is no test case. */
export interface HelperFunction {
  readonly name: string;
  readonly at: number;
  /** Where its body ends. */
  readonly end: number;
  /** Assertions in it that run and are heard; `strong` without errors that any function may raise. */
  readonly assertions: number;
  readonly strong: number;
}

const generic = String.raw`\b(?:function\s*\*?|def|defp|func|fun|fn|sub)\s+(?:self\.|\([^()\n]{0,100}\)\s*)?(\w{1,80})`;
const forms: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`\bfunction\s*\*?\s*(\w{1,80})|\b(?:const|let|var)\s+(\w{1,80})\s*(?::[^=\n]{0,80})?=\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*(?::[^=\n]{0,80})?=>|\w{1,40}\s*=>)|^[ \t]*(?:async\s+|static\s+)*(?!if\b|for\b|while\b|switch\b|catch\b|function\b)(\w{1,80})\s*\([^()\n]{0,300}\)\s*\{|\bexports\.(\w{1,80})\s*=|^[ \t]*(\w{1,80})\s*:\s*(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*=>)`,
  java: String.raw`\b(?:void|boolean|[A-Z]\w{0,60}(?:<[^<>\n]{0,80}>)?)\s+(\w{1,80})\s*\([^()\n]{0,300}\)[^;{}\n]{0,100}\{`,
  csharp: String.raw`\b(?:void|bool|Task|[A-Z]\w{0,60}(?:<[^<>\n]{0,80}>)?)\s+(\w{1,80})\s*\([^()\n]{0,300}\)\s*(?:\{|=>)`,
  c: String.raw`^(?:static\s+)?(?:inline\s+)?[\w:*&<> ]{1,80}?[\s*&](\w{1,80})\s*\([^()\n]{0,300}\)\s*\{`,
  shell: String.raw`^[ \t]*(?:function[ \t]+)?(\w{1,80})[ \t]*\(\)[ \t]*\{`,
};
const weak =
  /^(?:throw|raise|panic|die|croak|exit|return|unreachable|\?|\.unwrap|\.expect|done|false|\.to\b|\[)/;

/**
 * Functions of a file with what they assert. `heard`: offsets of assertions that count; names in `cases` are nobody's
 * helpers.
 */
export function helperFunctions(
  code: string,
  language: Language,
  shape: Shape,
  heard: readonly number[],
  cases: ReadonlySet<string>,
): readonly HelperFunction[] {
  const found: HelperFunction[] = [];
  let first = 0;
  for (const match of code.matchAll(new RegExp(forms[language] ?? generic, 'gm'))) {
    const name = match.slice(1).find((one) => one !== undefined);
    if (name === undefined || cases.has(name)) continue;
    const from = match.index + match[0].length;
    const end = shape.endOf(Math.min(from, match.index + firstInk(code, match.index)));
    while ((heard[first] ?? code.length) < from) first += 1;
    let assertions = 0;
    let strong = 0;
    for (let at = first; (heard[at] ?? code.length) < end && at < first + 1_000; at += 1) {
      assertions += 1;
      if (!weak.test(code.slice(heard[at], (heard[at] ?? 0) + 12).trimStart())) strong += 1;
    }
    found.push({ name, at: match.index, end, assertions, strong });
  }
  return found;
}

function firstInk(code: string, at: number): number {
  return Math.max(0, code.slice(at, at + 200).search(/\S/));
}

/** Files of tests that hold no test: helpers, support, fixtures. */
export const isOfHelpers =
  /(?:^|\/)(?:test|spec)s?[\w-]{0,20}(?:utils?|helpers?|support|kit)\b|(?:^|\/)(?:helpers?|support|testing|testlib|test[-_]?utils?)\/|(?:^|[/._-])(?:asserts?|assertions?|matchers?|helpers?)\.\w+$/i;
