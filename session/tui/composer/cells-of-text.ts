import { cellsOf } from '../../screen/cells.ts';
import { clipText } from '../../screen/clip.ts';
import { graphemes } from '../../screen/graphemes.ts';
import type { Tone } from '../../screen/line.ts';
import { type Folded, foldAt } from './folds.ts';
import { seenAs } from './seen.ts';

/** One grapheme, or one folded paste, as it is drawn. */
export interface Drawn {
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly cells: number;
  readonly tone: Tone;
}

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
  for (const grapheme of graphemes(piece)) {
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
  const next = page.text.codePointAt(at + grapheme.length);
  const { text, cells } =
    label === undefined
      ? seenAs(grapheme, next === undefined ? '' : String.fromCodePoint(next))
      : { text: label, cells: cellsOf(label) };
  const tone = label === undefined ? 'plain' : 'accent';
  if (cells <= width) return { text, cells, tone };
  const clipped = clipText(text, width);
  return { text: clipped, cells: cellsOf(clipped), tone };
}
