import type { Line, Span, Tone } from '../../screen/line.ts';
import { textOf } from '../../screen/line.ts';
import { cellsOf } from './cells.ts';

/** What is copied out of a terminal has to be the line that it was. */
const verbatim: ReadonlySet<Tone> = new Set([
  'added',
  'removed',
  'added-word',
  'removed-word',
  'hunk',
  'keyword',
  'string',
  'number',
  'comment',
  'name',
]);

/**
 * A line broken between words so that it has room. A word that has none stays whole, and so do code and diffs: the
 * terminal breaks those, which a copy of them does not show.
 */
export function wrapLine(line: Line, columns: number): readonly Line[] {
  if (cellsOf(textOf(line)) <= columns || isVerbatim(line)) return [line];
  const rows: Span[][] = [[]];
  let used = 0;
  let blanks: readonly Span[] = [];
  for (const word of wordsOf(line)) {
    const width = cellsOf(textOf(word));
    if (textOf(word).trim() === '') {
      blanks = [...blanks, ...word];
      continue;
    }
    const between = cellsOf(textOf(blanks));
    if (used > 0 && used + between + width > columns) {
      rows.push([]);
      used = 0;
    } else {
      rows.at(-1)?.push(...blanks);
      used += between;
    }
    rows.at(-1)?.push(...word);
    used += width;
    blanks = [];
  }
  return rows;
}

function isVerbatim(line: Line): boolean {
  const said = line.filter(({ text }) => text.trim() !== '');
  return said.some(({ tone }) => verbatim.has(tone)) || said.every(({ tone }) => tone === 'code');
}

/** The words of a line and the blanks between them, each with its tones: a word may have several. */
function wordsOf(line: Line): readonly Line[] {
  const words: Span[][] = [];
  let isBlank: boolean | undefined;
  for (const { text, tone } of line) {
    for (const piece of text.match(/ +|[^ ]+/g) ?? []) {
      const blank = piece.startsWith(' ');
      if (blank === isBlank) words.at(-1)?.push({ text: piece, tone });
      else words.push([{ text: piece, tone }]);
      isBlank = blank;
    }
  }
  return words;
}
