import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { bracketAt, isOutline, type Layout, type Outline, type Shape, type Span } from './blocks.ts';
import { type Extent, leftOutForms } from './case-forms.ts';

/** Parts of a text of which no runner runs a case, by marks that hold for certain. */
export function leftOutSpans(
  code: string,
  { text, whole }: Pick<ChangedSource, 'text' | 'whole'>,
  language: Language,
  shape: Shape,
): readonly Span[] {
  const spans: Span[] = [];
  for (const [extent, form] of leftOutForms[language] ?? [])
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

/** Functions within functions, classes that are no tests, fixtures. */
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

/** Where names of tests of Python are last taken away: deleted, or given to something else. */
export function removedNames(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(removal)].map((match) => [
      match.slice(1).find((one) => one !== undefined) ?? '',
      match.index,
    ]),
  );
}
