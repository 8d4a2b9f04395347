/* Measures, cuts and wraps lines in terminal columns. */
import stringWidth from 'string-width';
import { commonText, type Line, type Span, span, type Tone, textOf } from './line.ts';

/** Columns of text without control characters. */
export function cellsOf(text: string): number {
  return commonText.test(text) ? text.length : stringWidth(text);
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Splits text into graphemes. */
export function graphemes(text: string): readonly string[] {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** At most so many columns of a line; what is cut off ends in `…`. No character is split. */
export function clipLine(line: Line, columns: number): Line {
  if (widthOf(line) <= columns) return line;
  if (columns < 1) return [];
  const kept: Span[] = [];
  let left = columns - 1;
  for (const { text, tone } of line) {
    const part = startOf(text, left);
    if (part !== '') kept.push({ text: part, tone });
    left -= cellsOf(part);
    if (part !== text) return [...kept, span('…', tone)];
  }
  return kept;
}

export function clipText(text: string, columns: number): string {
  if (cellsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${startOf(text, columns - 1)}…`;
}

function startOf(text: string, columns: number): string {
  let [kept, used] = ['', 0];
  for (const one of graphemes(text.slice(0, 64 * columns + 64))) {
    used += cellsOf(one);
    if (used > columns) return kept;
    kept += one;
  }
  return kept;
}

interface WrapOptions {
  /** Columns of the widest line; at least 2, so that a wide character has its place. */
  readonly columns: number;
  /** Precedes every line but the first. Left out if it is wider than half of the columns. */
  readonly hang?: Line;
  /** Code: breaks wherever the columns end, and keeps its spaces. */
  readonly anywhere?: boolean;
}

/**
 * A line as lines of so many columns, broken between words, and within a word that is longer than a line. No character
 * is split or lost but the spaces at which a line breaks.
 */
export function wrapLine(line: Line, { columns, hang = [], anywhere = false }: WrapOptions): readonly Line[] {
  const most = Math.max(2, Math.floor(columns));
  if (widthOf(line) <= most) return [line];
  const before = widthOf(hang) * 2 <= most ? hang : [];
  const indent = widthOf(before);
  const lines: Line[] = [];
  let row: Span[] = [];
  let used = 0;
  const end = (): void => {
    lines.push(anywhere ? row : trimEnd(row));
    row = [...before];
    used = indent;
  };
  const put = (text: string, tone: Tone, cells: number): void => {
    const last = row.at(-1);
    if (last !== undefined && last.tone === tone && !before.includes(last))
      row[row.length - 1] = { text: last.text + text, tone };
    else row.push({ text, tone });
    used += cells;
  };
  const putHard = (text: string, tone: Tone): void => {
    for (const one of graphemes(text)) {
      const cells = cellsOf(one);
      if (used + cells > most) end();
      put(one, tone, cells);
    }
  };
  for (const { isSpace, parts, cells } of anywhere ? [] : wordsOf(line)) {
    if (isSpace && used + cells >= most) {
      used = most;
      continue;
    }
    if (used + cells > most && used > (lines.length === 0 ? 0 : indent)) end();
    for (const { text, tone } of parts)
      if (cells > most - indent) putHard(text, tone);
      else put(text, tone, cellsOf(text));
  }
  if (anywhere) for (const { text, tone } of line) putHard(text, tone);
  if (row.length > before.length || lines.length === 0) lines.push(row);
  return lines;
}

export function widthOf(line: Line): number {
  return line.reduce((sum, { text }) => sum + cellsOf(text), 0);
}

function trimEnd(row: readonly Span[]): Line {
  const last = row.at(-1);
  if (last === undefined || !last.text.endsWith(' ')) return row;
  const text = last.text.replace(/(?<! ) +$/, '');
  return text === '' ? row.slice(0, -1) : [...row.slice(0, -1), { text, tone: last.tone }];
}

interface Word {
  readonly isSpace: boolean;
  readonly parts: Span[];
  cells: number;
}

/** Words, of which one may have many tones, and the spaces between them. Wide characters are words of their own. */
function wordsOf(line: Line): readonly Word[] {
  const words: Word[] = [];
  for (const { text, tone } of line)
    for (const [part] of text.matchAll(/ +|[^ ]+/g)) {
      const isSpace = part.startsWith(' ');
      for (const piece of isSpace ? [part] : breakable(part)) {
        const last = words.at(-1);
        const joins = last !== undefined && last.isSpace === isSpace && !isWide.test(piece);
        if (joins && !isWide.test(last.parts.at(-1)?.text ?? '')) {
          last.parts.push({ text: piece, tone });
          last.cells += cellsOf(piece);
        } else words.push({ isSpace, parts: [{ text: piece, tone }], cells: cellsOf(piece) });
      }
    }
  return words;
}

const isWide = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/** Chinese and Japanese have no spaces: each character may end a line. */
function breakable(word: string): readonly string[] {
  if (!isWide.test(word)) return [word];
  return [
    ...word.matchAll(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]\P{L}*|[^\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+/gu),
  ].map(([piece]) => piece);
}

/**
 * The prefix of a line: an indent, a marker, a number, or a word in its own column. Its letters are escaped, because
 * the compiled file is ASCII.
 */
const beginning = /^ *(?:\S+ {2,}|(?:[-+\u2022\u2713\u2717\u00b7?>$]|\d+\.) )?/;

/** Wraps a line; its further rows are indented to its words. */
export function hangLine(line: Line, columns: number): readonly Line[] {
  const [found = ''] = beginning.exec(textOf(line)) ?? [];
  const hang = [span(' '.repeat(Math.max(2, found.length)))];
  return wrapLine(line, { columns, hang });
}
