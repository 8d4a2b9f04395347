import type { Tone } from '../../screen/line.ts';
import { cellsOf } from '../term/cells.ts';
import { cellsOfGrapheme } from './cells-of-grapheme.ts';
import { type Folded, foldAt } from './folds.ts';
import { graphemesOf } from './graphemes.ts';
import { unseemly } from './unseemly.ts';

/** One grapheme, or one folded paste, as it is drawn. */
export interface Drawn {
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly cells: number;
  readonly tone: Tone;
}

const tab = '    ';
/** Units of one grapheme that are drawn; what piles more marks on a letter is cut. */
const mostUnits = 32;

/** What stands in `text` from `from` to `to`, which is no longer than a block, each at most `width` cells. */
export function drawnBetween(page: Folded, from: number, to: number, width: number): readonly Drawn[] {
  const drawn: Drawn[] = [];
  const piece = page.text.slice(from, to);
  if (/^[\x20-\x7e]*$/.test(piece)) {
    for (let at = 0; at < piece.length; at += 1)
      drawn.push({ from: from + at, to: from + at + 1, text: piece.charAt(at), cells: 1, tone: 'plain' });
    return drawn;
  }
  let at = from;
  for (const grapheme of graphemesOf(piece)) {
    drawn.push({ from: at, to: at + grapheme.length, ...shown(page, at, grapheme, width) });
    at += grapheme.length;
  }
  return drawn;
}

function shown(
  page: Folded,
  at: number,
  grapheme: string,
  width: number,
): Pick<Drawn, 'text' | 'cells' | 'tone'> {
  const label = grapheme.length === 1 ? foldAt(page, at)?.label : undefined;
  if (label !== undefined) {
    const text = label.length <= width ? label : `${label.slice(0, width - 1)}…`;
    return { text, cells: cellsOf(text), tone: 'accent' };
  }
  if (grapheme === '\t')
    return { text: tab.slice(0, width), cells: Math.min(tab.length, width), tone: 'plain' };
  const text = unseemly.test(grapheme) ? '\ufffd' : cut(grapheme);
  const cells = cellsOfGrapheme(text);
  return cells <= width ? { text, cells, tone: 'plain' } : { text: '?', cells: 1, tone: 'dim' };
}

function cut(grapheme: string): string {
  return grapheme.length <= mostUnits
    ? grapheme
    : grapheme
        .slice(0, mostUnits)
        .toWellFormed()
        .replace(/\ufffd$/, '');
}
