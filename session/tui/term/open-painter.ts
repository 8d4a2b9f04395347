import type { Line } from '../../screen/line.ts';
import { cellsOf } from './cells.ts';
import { changeLook, encodeLine } from './encode-line.ts';
import type { Cursor, Painter, Size } from './painter.ts';
import { type Cell, columnsOf, cutRow, type Row, rowsWithin, sameCell, toRow } from './row.ts';
import { type Theme, withWords } from './theme.ts';
import { wrapLine } from './wrap-line.ts';

export interface PainterOptions {
  /** Takes one frame, whole. */
  readonly write: (text: string) => void;
  readonly size: Size;
  readonly theme: Theme;
  /** Whether the terminal breaks rows anew which are wider than it has become; see `reflows`. */
  readonly reflows: boolean;
}

/** A painter of a terminal whose cursor stands at the beginning of a line that is empty. */
export function openPainter({ write, theme, reflows, ...options }: PainterOptions): Painter {
  let { size } = options;
  let region = emptyRegion;
  let finished: Line[] = [];
  let wanted: { readonly lines: readonly Line[]; readonly cursor?: Cursor } = { lines: [] };
  let state: 'open' | 'paused' | 'closed' = 'open';

  const draw = (): void => {
    if (state !== 'open') return;
    const lines = finished;
    finished = [];
    const to = toRegion(wanted.lines, wanted.cursor, size, theme);
    const frame = change(lines, to);
    region = to;
    if (frame !== '') write(frame);
  };
  const change = (lines: readonly Line[], to: Region): string => {
    const wrapped = lines.length > size.rows ? undefined : toRows(lines);
    const fits = wrapped !== undefined && wrapped.length + to.rows.length <= size.rows;
    if (fits && wrapped.every((row) => columnsOf(row) <= size.columns)) {
      const at = { row: to.at.row + wrapped.length, column: to.at.column };
      return changeRegion(region, { ...to, at, rows: [...wrapped, ...to.rows] }, size.columns);
    }
    const encoded = lines
      .flatMap((line) => wrapLine(line, size.columns))
      .map((line) => encodeLine(line, theme));
    return printAnew(region, encoded, to, size.columns);
  };
  const toRows = (lines: readonly Line[]): readonly Row[] =>
    lines.flatMap((line) => wrapLine(line, size.columns)).map((line) => toRow(line, theme));
  const leave = (): void => {
    const last = wanted;
    wanted = { lines: [], cursor: { row: 0, column: 0 } };
    draw();
    wanted = last;
  };

  return {
    commit: (lines) => {
      if (lines.length === 0 || state === 'closed') return;
      finished.push(...lines);
      queueMicrotask(() => {
        if (finished.length > 0) draw();
      });
    },
    live: (lines, cursor) => {
      wanted = cursor === undefined ? { lines } : { lines, cursor };
      draw();
    },
    resized: (to) => {
      if (state === 'open') region = afterResize(region, to, reflows);
      size = to;
      if (state !== 'open') return;
      const next = toRegion(wanted.lines, wanted.cursor, size, theme);
      write(printAnew(region, [], next, size.columns));
      region = next;
    },
    pause: () => {
      if (state !== 'open') return;
      leave();
      state = 'paused';
    },
    resume: (to) => {
      if (state === 'closed') return;
      size = to;
      region = emptyRegion;
      state = 'open';
      draw();
    },
    close: () => {
      if (state === 'open') leave();
      state = 'closed';
    },
  };
}

/** The lowest rows of what is wanted that have room. */
function toRegion(lines: readonly Line[], cursor: Cursor | undefined, size: Size, theme: Theme): Region {
  const cut = Math.max(0, lines.length - Math.max(1, size.rows - 1));
  const rows = lines.slice(cut).map((line) => cutRow(toRow(line, theme), size.columns));
  if (rows.length === 0) rows.push([]);
  const last = rows.length - 1;
  if (cursor === undefined) return { rows, at: { row: last, column: 0 }, seen: false };
  const row = Math.min(Math.max(cursor.row - cut, 0), last);
  const column = cursor.column + wordsBefore(lines[row + cut] ?? [], cursor.column, theme);
  return { rows, at: { row, column: Math.min(Math.max(column, 0), size.columns - 1) }, seen: true };
}

/** Columns of the words which the theme puts before a place of a line. */
function wordsBefore(line: Line, column: number, theme: Theme): number {
  let used = 0;
  let words = 0;
  for (const one of withWords(line, theme)) {
    if (used > column) break;
    if (line.includes(one)) used += cellsOf(one.text);
    else words += cellsOf(one.text);
  }
  return words;
}

/**
 * Where the cursor stands once the terminal has another size. What is wider than that takes more rows now; the row of
 * the cursor itself is broken by some terminals and cut by others: too far up, something finished would be lost.
 */
function afterResize(region: Region, size: Size, reflows: boolean): Region {
  if (!reflows) return region;
  const above = region.rows.slice(0, region.at.row);
  const row = above.reduce((sum, cells) => sum + rowsWithin(cells, size.columns), 0);
  return { ...region, at: { ...region.at, row } };
}

/** The live region on a terminal: at least one row, and where the cursor stands. */
interface Region {
  readonly rows: readonly Row[];
  readonly at: Cursor;
  readonly seen: boolean;
}

/** Nothing: a line of its own with the cursor at its beginning. */
const emptyRegion: Region = { rows: [[]], at: { row: 0, column: 0 }, seen: true };

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
function changeRegion(from: Region, to: Region, columns: number): string {
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
function printAnew(from: Region, lines: readonly string[], to: Region, columns: number): string {
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

/** What moving rows costs beside writing. */
const moveCost = 8;

/**
 * Where rows are put in or taken out so that the least is written: the rows before the answer stay where they are,
 * those behind it stay what they are and give way.
 */
function alignRows(from: readonly Row[], to: readonly Row[]): number {
  const kept = Math.min(from.length, to.length);
  const more = Math.max(0, to.length - from.length);
  const [laterFrom, laterTo] = [from.length - kept, to.length - kept];
  let cost = moveCost;
  for (let row = 0; row < more; row += 1) cost += changeCost([], to[row]);
  for (let row = 0; row < kept; row += 1) cost += changeCost(from[row + laterFrom], to[row + laterTo]);
  let [least, best] = [cost, 0];
  for (let row = 0; row < kept; row += 1) {
    cost += changeCost(from[row], to[row]) - changeCost(from[row + laterFrom], to[row + laterTo]);
    if (more > 0) cost += changeCost([], to[row + more]) - changeCost([], to[row]);
    if (row === kept - 1) cost -= moveCost;
    if (cost <= least) [least, best] = [cost, row + 1];
  }
  return best;
}

/** About how many columns are written to make one row the other. */
function changeCost(from: Row = [], to: Row = []): number {
  let start = 0;
  while (start < to.length && start < from.length && sameCell(from[start], to[start])) start += 1;
  return start === to.length && start === from.length ? 0 : 1 + columnsOf(to.slice(start));
}

/**
 * Writes at places of a region of rows of which nobody knows where on the screen it is: every move is relative, and
 * what was written is gathered until the frame is whole.
 */
class Pen {
  row: number;
  /** Unknown where the last column was written: terminals stand on it, or behind it. */
  private column: number | undefined;
  private look = '';
  /** Whether something was written that a terminal may think to be wider than its room. */
  daring = false;
  private readonly columns: number;
  private written = '';

  constructor(at: Cursor, columns: number) {
    this.row = at.row;
    this.column = at.column;
    this.columns = columns;
  }

  /** What was written since it was asked, with the look that every frame ends with. */
  take(): string {
    this.lookAs('');
    const written = this.written;
    this.written = '';
    return written;
  }

  put(text: string): void {
    this.written += text;
  }

  moveTo(row: number, column = this.column): void {
    const rows = row - this.row;
    // There is a row above, so nothing scrolls ("reverse index", ECMA-48 before its fifth edition).
    if (rows < 0) this.put(rows === -1 ? '\x1bM' : `\x1b[${-rows}A`);
    if (rows > 0) this.put(rows === 1 ? '\x1b[B' : `\x1b[${rows}B`);
    this.row = row;
    if (column === undefined || this.column === column) return;
    this.put(toColumn(this.column, column));
    this.column = column;
  }

  /** Rows below the last one, which scroll the screen where it is full. */
  addRows(count: number): void {
    this.lookAs('');
    this.put('\r\n'.repeat(count));
    this.row += count;
    this.column = 0;
  }

  /** Blank rows before this one; those below give way. */
  insertRows(count: number): void {
    this.lookAs('');
    this.put(count === 1 ? '\x1b[L' : `\x1b[${count}L`);
  }

  deleteRows(count: number): void {
    this.lookAs('');
    this.put(count === 1 ? '\x1b[M' : `\x1b[${count}M`);
  }

  eraseBelow(): void {
    this.lookAs('');
    this.put('\x1b[J');
  }

  /** Makes the row that stands there another one: from the first cell that differs to the last. */
  change(row: number, from: Row, to: Row): void {
    let start = 0;
    while (start < to.length && sameCell(from[start], to[start])) start += 1;
    if (start === to.length && start === from.length) return;
    const [before, after] = [columnsOf(from), columnsOf(to)];
    const loose = [...from.slice(start), ...to.slice(start)].some((cell) => cell.loose);
    let end = to.length;
    if (before === after && !loose) {
      for (let other = from.length; end > start && sameCell(from[other - 1], to[end - 1]); other -= 1)
        end -= 1;
    }
    this.moveTo(row, columnsOf(to, start));
    if (loose) this.eraseRight();
    for (const cell of to.slice(start, end)) this.write(cell);
    if (after < before && !loose) this.eraseRight();
  }

  private eraseRight(): void {
    this.lookAs('');
    this.put('\x1b[K');
  }

  private write(cell: Cell): void {
    this.lookAs(cell.look);
    this.put(cell.text);
    const column = (this.column ?? this.columns) + cell.width;
    // Where a terminal draws it wider or narrower, what follows stands where it is thought to stand all the same.
    if (cell.loose && column < this.columns) this.put(`\x1b[${column + 1}G`);
    this.column = column < this.columns ? column : undefined;
    this.daring ||= cell.loose || this.column === undefined;
  }

  private lookAs(look: string): void {
    this.put(changeLook(this.look, look));
    this.look = look;
  }
}

/** The shortest way from one column to another; from one that is not known the place itself is named. */
function toColumn(from: number | undefined, to: number): string {
  if (to === 0) return '\r';
  const named = `\x1b[${to + 1}G`;
  if (from === undefined) return named;
  const by = to - from;
  const moved = by > 0 ? `\x1b[${by === 1 ? '' : by}C` : '\b'.repeat(Math.min(-by, named.length));
  return moved.length < named.length ? moved : named;
}
