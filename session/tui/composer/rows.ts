import { borderAtOrBefore } from './borders.ts';
import { type Drawn, drawnBetween } from './cells-of-text.ts';
import type { Folded } from './folds.ts';

/** A row as it is drawn: the text from `from` to `to`. */
export interface Row {
  readonly from: number;
  readonly to: number;
  readonly drawn: readonly Drawn[];
  /** Whether a line of the text ends here; else the place at `to` is in the next row. */
  readonly isLineEnd: boolean;
}

/** Rows around a place, and which of them it is in. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly at: number;
  readonly hasAbove: boolean;
  readonly hasBelow: boolean;
}

/** Part of a line that is wrapped on its own: only a line of more than 2,048 units has several. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly isLineEnd: boolean;
}

const size = 2048;

/**
 * The row of a place with up to `above` and `below` others, wrapped between words at `width` cells. A cursor behind the
 * last sign of a full row stands one cell further: whoever draws keeps it free.
 */
export function rowsAround(page: Folded, place: number, width: number, above: number, below: number): Rows {
  const { text } = page;
  let [first, last] = [blockAt(text, place), blockAt(text, place)];
  let rows = wrap(page, first, width);
  let at = rows.findLastIndex(({ from }) => from <= place);
  while (at < above && first.from > 0) {
    first = blockAt(text, first.from - 1);
    const more = wrap(page, first, width);
    rows = [...more, ...rows];
    at += more.length;
  }
  while (rows.length - 1 - at < below && !isLast(text, last)) {
    last = blockAt(text, last.isLineEnd ? last.to + 1 : last.to);
    rows = [...rows, ...wrap(page, last, width)];
  }
  const start = Math.max(0, at - above);
  const end = Math.min(rows.length, at + below + 1);
  return {
    rows: rows.slice(start, end),
    at: at - start,
    hasAbove: start > 0 || first.from > 0,
    hasBelow: end < rows.length || !isLast(text, last),
  };
}

/** Cells between the beginning of a row and a place in it. */
export function columnOf(row: Row, place: number): number {
  return row.drawn.reduce((cells, one) => (one.to <= place ? cells + one.cells : cells), 0);
}

/** The place in a row at a column, or the last one before it. */
export function placeAt(row: Row, column: number): number {
  let cells = 0;
  for (const one of row.drawn) {
    if (cells + one.cells > column) return one.from;
    cells += one.cells;
  }
  return row.isLineEnd ? row.to : (row.drawn.at(-1)?.from ?? row.from);
}

function isLast(text: string, block: Block): boolean {
  return block.isLineEnd && block.to === text.length;
}

function blockAt(text: string, place: number): Block {
  const lineFrom = place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1;
  const end = text.indexOf('\n', place);
  const lineTo = end < 0 ? text.length : end;
  const start = (index: number): number => {
    const near = lineFrom + index * size;
    if (index === 0 || near >= lineTo) return Math.min(near, lineTo);
    const space = text.slice(near - 64, near).lastIndexOf(' ');
    return borderAtOrBefore(text, space < 0 ? near : near - 63 + space);
  };
  let index = Math.floor((place - lineFrom) / size);
  if (index > 0 && start(index) === lineTo) index -= 1;
  if (start(index + 1) < lineTo && start(index + 1) <= place) index += 1;
  const to = start(index + 1);
  return { from: start(index), to, isLineEnd: to === lineTo };
}

/** Between words where there is a space; a space behind a full row hangs over its end, unseen. */
function wrap(page: Folded, block: Block, width: number): readonly Row[] {
  const rows: (readonly Drawn[])[] = [];
  let row: Drawn[] = [];
  let [cells, wordAt] = [0, 0];
  const push = (count: number): void => {
    rows.push(row.slice(0, count));
    row = row.slice(count);
    cells = row.reduce((sum, one) => sum + one.cells, 0);
    wordAt = 0;
  };
  for (const one of drawnBetween(page, block.from, block.to, width)) {
    const hangs = one.text === ' ' && cells === width;
    // Wide signs, folded pastes and escapes are words of their own.
    if (one.cells > 1) wordAt = row.length;
    while (!hangs && cells + one.cells > width && row.length > 0) push(wordAt > 0 ? wordAt : row.length);
    row.push(one);
    cells += one.cells;
    if (one.cells > 1 || one.text === ' ') wordAt = row.length;
    if (hangs) push(row.length);
  }
  // Behind a space that hangs over there is no place for a cursor.
  if (row.length > 0 || rows.length === 0 || block.isLineEnd) rows.push(row);
  let from = block.from;
  return rows.map((drawn, index) => {
    const to = drawn.at(-1)?.to ?? from;
    const next = { from, to, drawn, isLineEnd: block.isLineEnd && index === rows.length - 1 };
    from = to;
    return next;
  });
}
