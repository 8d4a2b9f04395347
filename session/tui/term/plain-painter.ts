/* The painter for screen readers, which only appends. */
import type { Line } from '../../screen/line.ts';
import { wrapLine } from '../../screen/wrap.ts';
import type { PainterOptions } from './open-painter.ts';
import { openPainterOn, type Painter } from './painter.ts';
import { columnsOf, cutRow, type Row, sameCell, toRow } from './row.ts';

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
