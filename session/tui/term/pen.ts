import { changeLook } from './encode-line.ts';
import type { Cursor } from './painter.ts';
import { type Cell, columnsOf, type Row, sameCell } from './row.ts';

/**
 * Writes at places of a region of rows of which nobody knows where on the screen it is: every move is relative, and
 * what was written is gathered until the frame is whole.
 */
export class Pen {
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
