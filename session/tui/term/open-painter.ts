/* Draws the last rows of a terminal, where only changes are written, or appends lines only, for screen readers. */
import type { Line } from '../../screen/line.ts';
import { cellsOf, wrapLine } from '../../screen/wrap.ts';
import { type Cursor, openPainterOn, type Painter, type Size } from './painter.ts';
import {
  type Cell,
  changeLook,
  columnsOf,
  cutRow,
  type Row,
  rowsWithin,
  sameCell,
  type Theme,
  toRow,
  withWords,
} from './row.ts';

interface PainterOptions {
  readonly write: (text: string) => void;
  readonly size: Size;
  readonly theme: Theme;
  /** Whether the terminal breaks rows that are wider than it has become; see `reflows`. */
  readonly reflows: boolean;
}

/** Opens a painter. The terminal's cursor must be at the start of an empty line. */
export function openPainter({ write, theme, reflows, ...options }: PainterOptions): Painter {
  let { size } = options;
  let region = emptyRegion;
  return openPainterOn<Wanted>({
    none: { lines: [], cursor: { row: 0, column: 0 } },
    toWanted: (lines, cursor) => (cursor === undefined ? { lines } : { lines, cursor }),
    draw(finished, wanted) {
      const above = finished
        .flatMap((line) => wrapLine(line, { columns: size.columns }))
        .map((line) => toRow(line, theme));
      const live = toRegion(wanted.lines, wanted.cursor, size, theme);
      const at = { row: live.at.row + above.length, column: live.at.column };
      const frame = changeRegion(region, { ...live, at, rows: [...above, ...live.rows] }, size);
      region = live;
      if (frame !== '') write(frame);
    },
    resized(to, wanted, isOpen) {
      size = to;
      if (!isOpen) return wanted;
      region = afterResize(region, to, reflows);
      const next = toRegion(wanted.lines, wanted.cursor, size, theme);
      const pen = new Pen(region.at, size.columns);
      pen.moveTo(0, 0);
      pen.eraseBelow();
      pen.changeRows([[]], next.rows, 0);
      pen.moveTo(next.at.row, next.at.column);
      write(wholeFrame(region, next, pen.take()));
      region = next;
      return wanted;
    },
    restart(to) {
      size = to;
      region = emptyRegion;
    },
  });
}

interface Wanted {
  readonly lines: readonly Line[];
  readonly cursor?: Cursor;
}

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

/** Columns of the words that the theme puts before a place of a line. */
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
 * Where the cursor is after a resize. A row that is wider than the terminal occupies several rows now. The row of the
 * cursor itself counts as one, for some terminals cut it: a region that begins too high would overwrite finished lines.
 */
function afterResize(region: Region, size: Size, reflows: boolean): Region {
  if (!reflows) return region;
  const above = region.rows.slice(0, region.at.row);
  const row = above.reduce((sum, cells) => sum + rowsWithin(cells, size.columns), 0);
  return { ...region, at: { ...region.at, row } };
}

interface Region {
  readonly rows: readonly Row[];
  readonly at: Cursor;
  readonly seen: boolean;
}

const emptyRegion: Region = { rows: [[]], at: { row: 0, column: 0 }, seen: true };

/** Synchronized output: a terminal that supports it shows only whole frames. */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l'];
const [hide, show] = ['\x1b[?25l', '\x1b[?25h'];
/** Without automatic wrap a row stays one row, whatever width the terminal gives its characters. */
const [cut, wrap] = ['\x1b[?7l', '\x1b[?7h'];
const [save, restore] = ['\x1b7', '\x1b8'];

/** A longer change may be seen half drawn, and is sent as a whole frame. */
const smallFrame = 160;

/** Makes one region another. The first rows of `to` may be finished lines, of which any number scrolls away. */
function changeRegion(from: Region, to: Region, { rows, columns }: Size): string {
  const pen = new Pen(from.at, columns);
  pen.changeRows(from.rows, to.rows, to.rows.length > rows ? 0 : sameRowsAtEnd(from.rows, to.rows));
  const changed = pen.take();
  pen.moveTo(to.at.row, to.at.column);
  const back = pen.take();
  if (changed.length > smallFrame) return wholeFrame(from, to, changed + back);
  const sight = from.seen === to.seen ? '' : to.seen ? show : hide;
  const written = pen.daring ? cut + changed + wrap : changed;
  const stays = from.rows.length === to.rows.length && from.at.row === to.at.row;
  return stays && from.at.column === to.at.column && back.length > save.length + restore.length
    ? save + written + restore + sight
    : written + back + sight;
}

function wholeFrame(from: Region, to: Region, written: string): string {
  return `${begin}${from.seen ? hide : ''}${cut}${written}${wrap}${to.seen ? show : ''}${end}`;
}

/** How many of the last rows stay as they are, below rows that are inserted or deleted. */
function sameRowsAtEnd(from: readonly Row[], to: readonly Row[]): number {
  if (from.length === to.length) return 0;
  const most = Math.min(from.length, to.length);
  const isSame = (one: Row, other: Row): boolean =>
    one.length === other.length && one.every((cell, at) => sameCell(cell, other[at]));
  let count = 0;
  while (count < most && isSame(from.at(-1 - count) ?? [], to.at(-1 - count) ?? [])) count += 1;
  return count;
}

/** Writes at places of the region. Every move is relative: the place of the region on the screen is unknown. */
class Pen {
  row: number;
  /** Unknown after the last column was written: terminals differ in where the cursor is then. */
  private column: number | undefined;
  private look = '';
  /** Whether something was written that a terminal may draw wider than its place. */
  daring = false;
  private readonly columns: number;
  private written = '';

  constructor(at: Cursor, columns: number) {
    this.row = at.row;
    this.column = at.column;
    this.columns = columns;
  }

  /** Returns what was written since the last call, and ends it with the plain look. */
  take(): string {
    this.lookAs('');
    const { written } = this;
    this.written = '';
    return written;
  }

  moveTo(row: number, column = this.column): void {
    const rows = row - this.row;
    // "Reverse index" is shorter. It does not scroll here, because a row above exists.
    if (rows < 0) this.written += rows === -1 ? '\x1bM' : `\x1b[${-rows}A`;
    if (rows > 0) this.written += rows === 1 ? '\x1b[B' : `\x1b[${rows}B`;
    this.row = row;
    if (column === undefined || this.column === column) return;
    this.written += toColumn(this.column, column);
    this.column = column;
  }

  eraseBelow(): void {
    this.lookAs('');
    this.written += '\x1b[J';
  }

  /** Makes some rows others; the last `kept` rows of both are the same. */
  changeRows(from: readonly Row[], to: readonly Row[], kept: number): void {
    const more = to.length - from.length;
    const changed = to.length - kept;
    const inPlace = Math.min(from.length - kept, changed);
    for (let row = 0; row < inPlace; row += 1) this.change(row, from[row] ?? [], to[row] ?? []);
    if (more < 0) {
      this.moveTo(changed, 0);
      if (kept === 0) this.eraseBelow();
      else this.putLines(-more, 'M');
    } else if (more > 0 && kept > 0) {
      // The added rows make the screen scroll if it is full.
      this.moveTo(from.length - 1);
      this.addRows(more);
      this.moveTo(from.length - kept, 0);
      this.putLines(more, 'L');
    }
    for (let row = inPlace; row < changed; row += 1) {
      if (kept === 0) {
        this.moveTo(row - 1);
        this.addRows(1);
      }
      this.change(row, [], to[row] ?? []);
    }
  }

  /** Rewrites a row from the first cell that differs. */
  private change(row: number, from: Row, to: Row): void {
    let start = 0;
    while (start < to.length && sameCell(from[start], to[start])) start += 1;
    if (start === to.length && start === from.length) return;
    const loose = [...from.slice(start), ...to.slice(start)].some((cell) => cell.loose);
    this.moveTo(row, columnsOf(to, start));
    if (loose) this.eraseRight();
    for (const cell of to.slice(start)) this.write(cell);
    if (!loose && columnsOf(to) < columnsOf(from)) this.eraseRight();
  }

  private addRows(count: number): void {
    this.lookAs('');
    this.written += '\r\n'.repeat(count);
    this.row += count;
    this.column = 0;
  }

  /** Inserts (`L`) or deletes (`M`) lines at this row. */
  private putLines(count: number, final: 'L' | 'M'): void {
    this.lookAs('');
    this.written += `\x1b[${count === 1 ? '' : count}${final}`;
  }

  private eraseRight(): void {
    this.lookAs('');
    this.written += '\x1b[K';
  }

  private write(cell: Cell): void {
    this.lookAs(cell.look);
    this.written += cell.text;
    const column = (this.column ?? this.columns) + cell.width;
    // A terminal may draw this cell wider or narrower, so the cursor is moved to the next column explicitly.
    if (cell.loose && column < this.columns) this.written += `\x1b[${column + 1}G`;
    this.column = column < this.columns ? column : undefined;
    this.daring ||= cell.loose || this.column === undefined;
  }

  private lookAs(look: string): void {
    this.written += changeLook(this.look, look);
    this.look = look;
  }
}

/** The shortest sequence from one column to another; from an unknown one it names the column. */
function toColumn(from: number | undefined, to: number): string {
  if (to === 0) return '\r';
  const named = `\x1b[${to + 1}G`;
  if (from === undefined) return named;
  const by = to - from;
  const moved = by > 0 ? `\x1b[${by === 1 ? '' : by}C` : '\b'.repeat(Math.min(-by, named.length));
  return moved.length < named.length ? moved : named;
}

/**
 * A painter for screen readers: it appends lines and rewrites only the typed line, by Backspace and carriage return.
 */
export function openPlainPainter({ write, theme, ...options }: Omit<PainterOptions, 'reflows'>): Painter {
  let { size } = options;
  let shown = nothingTyped;

  const show = (finished: readonly Line[], wanted: Typed): void => {
    const said = finished
      .flatMap((line) => wrapLine(line, { columns: size.columns }))
      .map((line) => textOf(toRow(line, theme)));
    const before = finished.length === 0 ? shown : nothingTyped;
    const told =
      finished.length === 0 ? '' : typedChange(shown, before) + said.map((line) => `${line}\r\n`).join('');
    const text = told + typedChange(before, wanted);
    shown = wanted;
    if (text !== '') write(text);
  };
  return openPainterOn<Typed>({
    none: nothingTyped,
    toWanted(lines, cursor) {
      // The terminal would wrap a full row, and the cursor cannot move back over a wrap.
      const row = cutRow(toRow(lines.at(-1) ?? [], theme), size.columns - 1);
      return { row, column: Math.min(cursor?.column ?? columnsOf(row), size.columns - 1) };
    },
    draw: show,
    resized(to, wanted, isOpen) {
      size = to;
      if (!isOpen || shown.row.length === 0) return wanted;
      // It is unknown how the terminal broke the typed row: it is written again on a new line.
      write('\r\n');
      shown = nothingTyped;
      const cut = {
        row: cutRow(wanted.row, size.columns - 1),
        column: Math.min(wanted.column, size.columns - 1),
      };
      show([], cut);
      return cut;
    },
    restart(to) {
      size = to;
      shown = nothingTyped;
    },
  });
}

/** A typed line and where the cursor is on it. */
interface Typed {
  readonly row: Row;
  readonly column: number;
}

const nothingTyped: Typed = { row: [], column: 0 };

/** Makes one typed line another, the cursor where it belongs: what is added at the end is all that is written. */
function typedChange(from: Typed, to: Typed): string {
  let same = 0;
  while (same < to.row.length && same < from.row.length && sameCell(from.row[same], to.row[same])) same += 1;
  const isLoose = [...from.row, ...to.row].some(({ loose }) => loose);
  const isSame = same === to.row.length && same === from.row.length;
  if (isSame && from.column === to.column) return '';
  // Terminals disagree about the width of loose cells: the row is rewritten from its start.
  const start = isLoose ? 0 : columnsOf(to.row, same);
  const first = isLoose ? 0 : same;
  const [width, before] = [columnsOf(to.row), columnsOf(from.row)];
  const there = isLoose ? '\r' : step(from, start);
  const rest = textOf(to.row.slice(first));
  const over = Math.max(0, before - width) + (isLoose ? before : 0);
  const written = there + rest + ' '.repeat(over) + '\b'.repeat(over);
  const blanks = Math.max(0, to.column - width);
  if (isLoose && to.column < width) return `${written}\r${cells(to.row, to.column)}`;
  return written + ' '.repeat(blanks) + '\b'.repeat(Math.max(0, width - to.column));
}

function step({ row, column }: Typed, to: number): string {
  if (to <= column) return to === 0 && column > 0 ? '\r' : '\b'.repeat(column - to);
  return cells(row, to).slice(cells(row, column).length);
}

function cells(row: Row, to: number): string {
  let [used, text] = [0, ''];
  for (const cell of row) {
    if (used >= to) break;
    used += cell.width;
    text += cell.text;
  }
  return text;
}

function textOf(row: Row): string {
  return row.map(({ text }) => text).join('');
}
