/* Colours code line by line. */
import type { Found } from './languages.ts';
import { type Line, type Span, type Tone, visible } from './line.ts';

/** Characters of the longest line that is coloured, and of a whole block: grammars are not linear in every text. */
const mostLine = 400;
const mostBlock = 64 * 1024;
/** Limits of the open comment, string or tag that is carried to the next line, and of its nesting. */
const mostOpen = 4;
const mostDepth = 16;

type ReadCode = (code: string, language: string) => Found | undefined;

let readCode: ReadCode | undefined;

/** Loads the grammars. Code is plain until then, so that no screen waits. */
export async function loadHighlighting(): Promise<void> {
  const languages = await import('./languages.ts');
  readCode = languages.readCode;
}

/** The state between two lines of code. */
export interface Highlighter {
  readonly language: string;
  /** Lines with open constructs (a comment, a string, a tag), each from where it opens. */
  readonly open: readonly string[];
  readonly seen: number;
}

export function openHighlighter(language: string): Highlighter {
  return { language, open: [], seen: 0 };
}

/**
 * Colours one line, depending only on earlier lines. Unknown languages, very long lines and text behind 64 Ki
 * characters are plain.
 */
export function highlightLine(
  state: Highlighter,
  text: string,
): { readonly line: Line; readonly next: Highlighter } {
  const seen = state.seen + text.length + 1;
  const plain = {
    line: text === '' ? [] : [{ text: visible(text), tone: 'code' as const }],
    next: { ...state, seen },
  };
  if (readCode === undefined || text.length > mostLine || seen > mostBlock) return plain;
  const before = state.open.map((line) => `${line}\n`).join('');
  const found = readCode(`${before}${text}\n`, state.language);
  if (found === undefined) return plain;
  if (found.openAt.length > mostDepth) return { line: plain.line, next: { ...state, seen: mostBlock } };
  const lines = [...state.open, text];
  return {
    line: spansOf(found, before.length, text.length),
    next: { ...state, seen, open: openLines(lines, found.openAt) },
  };
}

export function highlightCode(code: string, language: string): readonly Line[] {
  let state = openHighlighter(language);
  return code.split(/\r?\n/).map((text) => {
    const { line, next } = highlightLine(state, text);
    state = next;
    return line;
  });
}

function openLines(lines: readonly string[], openAt: readonly number[]): readonly string[] {
  const kept: string[] = [];
  let from = 0;
  for (const line of lines) {
    const opened = openAt.find((at) => at >= from && at < from + line.length);
    if (opened !== undefined && kept.length < mostOpen) kept.push(line.slice(opened - from));
    from += line.length + 1;
  }
  return kept;
}

function spansOf({ runs }: Found, from: number, length: number): Line {
  const spans: Span[] = [];
  let at = 0;
  for (const { text, scopes } of runs) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, from + length - at));
    at += text.length;
    if (part === '') continue;
    const tone = toTone(scopes);
    const last = spans.at(-1);
    if (last?.tone === tone) spans[spans.length - 1] = { text: last.text + part, tone };
    else spans.push({ text: part, tone });
  }
  return spans.map(({ text, tone }) => ({ text: visible(text), tone }));
}

/** Scopes of `highlight.js` grammars by their first word. */
const tones: Readonly<Record<string, Tone>> = {
  keyword: 'keyword',
  built_in: 'name',
  type: 'name',
  literal: 'number',
  number: 'number',
  symbol: 'number',
  string: 'string',
  regexp: 'string',
  char: 'string',
  link: 'link',
  comment: 'comment',
  quote: 'comment',
  doctag: 'comment',
  title: 'name',
  function: 'name',
  class: 'name',
  name: 'keyword',
  attr: 'name',
  attribute: 'name',
  property: 'name',
  variable: 'name',
  section: 'heading',
  bullet: 'keyword',
  strong: 'strong',
  emphasis: 'emphasis',
  code: 'string',
  addition: 'added',
  deletion: 'removed',
  meta: 'hunk',
  'selector-tag': 'keyword',
  'selector-class': 'name',
  'selector-id': 'name',
  'selector-attr': 'name',
  'selector-pseudo': 'name',
};

/** The innermost scope with a tone decides. Code in a string is code. */
function toTone(scopes: readonly string[]): Tone {
  for (const scope of scopes.toReversed()) {
    const tone = tones[scope.split('.', 1)[0] ?? ''];
    if (tone !== undefined) return tone;
    if (scope === 'subst') return 'code';
  }
  return 'code';
}
