import { cellsOf } from './cells.ts';
import { graphemes } from './graphemes.ts';
import { type Line, type Span, span } from './line.ts';
import { widthOf } from './wrap.ts';

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

/** At most so many columns of a text; what is cut off ends in `…`. */
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
