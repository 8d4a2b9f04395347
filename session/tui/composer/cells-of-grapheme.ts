import { cellsOf } from '../term/cells.ts';

/** Graphemes whose cells are remembered: a page of text has a few hundred. */
const most = 4096;
const known = new Map<string, number>();

/** Columns of one grapheme, remembered: the same signs are drawn at every key. */
export function cellsOfGrapheme(grapheme: string): number {
  const found = known.get(grapheme);
  if (found !== undefined) return found;
  const cells = cellsOf(grapheme);
  if (known.size >= most) known.clear();
  known.set(grapheme, cells);
  return cells;
}
