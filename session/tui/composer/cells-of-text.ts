import { cellsOf } from '../../screen/cells.ts';
import { clipText } from '../../screen/clip.ts';
import { graphemes } from '../../screen/graphemes.ts';
import type { Tone } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import { type Folded, foldAt } from './folds.ts';

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

/** A grapheme as a screen shows it, and the columns that this takes. */
interface Seen {
  readonly text: string;
  readonly cells: number;
}

/** Graphemes that are remembered: a page of text has a few hundred. */
const most = 4096;
/** Units of one grapheme that are drawn; what piles more marks on a letter is cut. */
const mostUnits = 32;
const tab = '    ';
const known = new Map<string, Seen>();

/** Remembered, for the same signs are drawn at every key. `next` is what is behind it, or nothing. */
function seenAs(grapheme: string, next: string): Seen {
  // A joiner at its end belongs there or not by what is behind it.
  if (/[\u200c\u200d]$/.test(grapheme)) return measured(beforeNext(cut(grapheme), next));
  const found = known.get(grapheme);
  if (found !== undefined) return found;
  const seen = measured(grapheme === '\t' ? tab : visible(cut(grapheme)));
  if (known.size >= most) known.clear();
  known.set(grapheme, seen);
  return seen;
}

function beforeNext(grapheme: string, next: string): string {
  const [both, behind] = [visible(grapheme + next), visible(next)];
  return both.endsWith(behind) ? both.slice(0, both.length - behind.length) : visible(grapheme);
}

function cut(grapheme: string): string {
  return grapheme.length <= mostUnits
    ? grapheme
    : grapheme.slice(0, mostUnits).replace(/[\ud800-\udbff]$/, '');
}

function measured(text: string): Seen {
  return { text, cells: cellsOf(text) };
}
