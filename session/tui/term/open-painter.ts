import type { Line } from '../../screen/line.ts';
import { cellsOf } from './cells.ts';
import { encodeLine } from './encode-line.ts';
import { changeRegion, emptyRegion, printAnew, type Region } from './frame.ts';
import type { Cursor, Painter, Size } from './painter.ts';
import { columnsOf, cutRow, type Row, rowsWithin, toRow } from './row.ts';
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
