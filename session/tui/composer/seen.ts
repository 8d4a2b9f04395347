import { cellsOf } from '../../screen/cells.ts';
import { visible } from '../../screen/visible.ts';

/** A grapheme as a screen shows it, and the columns that this takes. */
export interface Seen {
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
export function seenAs(grapheme: string, next: string): Seen {
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
