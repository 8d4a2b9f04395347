import { alignRows } from './align-rows.ts';
import type { Cursor } from './painter.ts';
import { Pen } from './pen.ts';
import type { Row } from './row.ts';

/** The live region on a terminal: at least one row, and where the cursor stands. */
export interface Region {
  readonly rows: readonly Row[];
  readonly at: Cursor;
  readonly seen: boolean;
}

/** Nothing: a line of its own with the cursor at its beginning. */
export const emptyRegion: Region = { rows: [[]], at: { row: 0, column: 0 }, seen: true };

/** Terminals that know it show nothing of a frame before it is whole. */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l'];
const [hide, show] = ['\x1b[?25l', '\x1b[?25h'];
/** So that a row stays one, whatever the terminal thinks of its width. */
const [cut, wrap] = ['\x1b[?7l', '\x1b[?7h'];
const [save, restore] = ['\x1b7', '\x1b8'];

/** More than this at once may be seen half drawn. */
const smallFrame = 160;

/**
 * Makes one region another, of which the first rows may be finished lines. All of them have room on the screen, else
 * use `printAnew`.
 */
export function changeRegion(from: Region, to: Region, columns: number): string {
  const pen = new Pen(from.at, columns);
  const more = to.rows.length - from.rows.length;
  changeRows(pen, from.rows, to.rows);
  const changed = pen.take();
  pen.moveTo(to.at.row, to.at.column);
  const back = pen.take();
  if (changed.length > smallFrame) return whole(from, to, changed + back);
  const sight = from.seen === to.seen ? '' : to.seen ? show : hide;
  const rows = pen.daring ? cut + changed + wrap : changed;
  // Rows that were put in may have scrolled the screen: what was saved is elsewhere then.
  const stays = more === 0 && samePlace(from.at, to.at) && changed !== '';
  return stays && back.length > save.length + restore.length
    ? save + rows + restore + sight
    : rows + back + sight;
}

/** Prints lines where a region stood, however long they are, and another region below them. */
export function printAnew(from: Region, lines: readonly string[], to: Region, columns: number): string {
  const pen = new Pen(from.at, columns);
  pen.moveTo(0, 0);
  pen.eraseBelow();
  const erased = pen.take();
  const printed = lines.map((line) => `${line}\r\n`).join('');
  const below = new Pen({ row: 0, column: 0 }, columns);
  for (const [row, cells] of to.rows.entries()) {
    if (row > 0) below.addRows(1);
    below.change(row, [], cells);
  }
  below.moveTo(to.at.row, to.at.column);
  return whole(from, to, below.take(), erased + printed);
}

function changeRows(pen: Pen, from: readonly Row[], to: readonly Row[]): void {
  const more = to.length - from.length;
  const split = more === 0 ? to.length : alignRows(from, to);
  for (let row = 0; row < split; row += 1) pen.change(row, from[row] ?? [], to[row] ?? []);
  if (more > 0) {
    pen.moveTo(from.length - 1);
    pen.addRows(more);
    if (split < from.length) {
      pen.moveTo(split, 0);
      pen.insertRows(more);
    }
  } else if (more < 0) {
    pen.moveTo(split, 0);
    if (split === to.length) pen.eraseBelow();
    else pen.deleteRows(-more);
  }
  for (let row = split; row < to.length; row += 1) {
    pen.change(row, row < split + more ? [] : (from[row - more] ?? []), to[row] ?? []);
  }
}

function whole(from: Region, to: Region, rows: string, lines = ''): string {
  return `${begin}${from.seen ? hide : ''}${lines}${cut}${rows}${wrap}${to.seen ? show : ''}${end}`;
}

function samePlace(one: Cursor, other: Cursor): boolean {
  return one.row === other.row && one.column === other.column;
}
