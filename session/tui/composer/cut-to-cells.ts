import { type Line, type Span, span } from '../../screen/line.ts';
import { cellsOf } from '../term/cells.ts';
import { graphemesOf } from './graphemes.ts';

/** A line of at most so many cells; what is cut ends with `…`. */
export function cutToCells(line: Line, cells: number): Line {
  if (line.reduce((sum, { text }) => sum + cellsOf(text), 0) <= cells) return line;
  const cut: Span[] = [];
  let left = cells - 1;
  for (const { text, tone } of line) {
    let kept = '';
    for (const grapheme of graphemesOf(text)) {
      const width = cellsOf(grapheme);
      if (width > left) return cells <= 0 ? [] : [...cut, span(`${kept}…`, tone)];
      kept += grapheme;
      left -= width;
    }
    cut.push(span(kept, tone));
  }
  return cut;
}
