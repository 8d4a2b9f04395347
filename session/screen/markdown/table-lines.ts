import { cellsOf } from '../cells.ts';
import { type Line, span } from '../line.ts';
import { widthOf, wrapLine } from '../wrap.ts';
import type { Align, Block, InlineLine } from './block.ts';

type Table = Block & { type: 'table' };

/** Columns that a cell has at least; with less, a row is told as a list of its cells. */
const leastCell = 6;
const between = ' │ ';
const crossing = '─┼─';

/** A table as wide as it needs to be, cells wrapped where the screen is narrower. */
export function tableLines(table: Table, columns: number): readonly Line[] {
  const { head, rows, align, continues } = table;
  const widths = fit(naturalWidths([head, ...rows]), columns - cellsOf(between) * (head.length - 1));
  if (widths === undefined) return listedRows(table, columns);
  const body = rows.flatMap((row) => rowLines(row, widths, align));
  if (continues) return body;
  const rule = span(widths.map((width) => '─'.repeat(width)).join(crossing), 'dim');
  return [...rowLines(head, widths, align), [rule], ...body];
}

function naturalWidths(rows: readonly (readonly InlineLine[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 1, widthOf(cell));
  return widths;
}

/** The widest columns give way first; nothing where one would be too narrow to be read. */
function fit(natural: readonly number[], room: number): readonly number[] | undefined {
  const total = natural.reduce((sum, width) => sum + width, 0);
  if (total <= room) return natural;
  if (room < natural.length * leastCell) return undefined;
  // The highest width that all wider columns may have, so that they fit beside the others.
  let [low, high] = [leastCell, room];
  const taken = (most: number): number => natural.reduce((sum, width) => sum + Math.min(width, most), 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (taken(middle) <= room) low = middle;
    else high = middle - 1;
  }
  return natural.map((width) => Math.min(width, low));
}

function rowLines(
  row: readonly InlineLine[],
  widths: readonly number[],
  align: readonly Align[],
): readonly Line[] {
  const cells = widths.map((width, at) => wrapLine(row[at] ?? [], { columns: width }));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.flatMap((width, at) => {
      const isLast = at === widths.length - 1;
      const padded = pad(cells[at]?.[line] ?? [], width, align[at] ?? 'left', isLast);
      return isLast ? padded : [...padded, span(between, 'dim')];
    }),
  );
}

function pad(cell: Line, width: number, align: Align, isLast: boolean): Line {
  const left = Math.max(0, width - widthOf(cell));
  const before = align === 'right' ? left : align === 'center' ? Math.floor(left / 2) : 0;
  const after = isLast ? 0 : left - before;
  const spaces = (count: number): Line => (count === 0 ? [] : [span(' '.repeat(count))]);
  return [...spaces(before), ...cell, ...spaces(after)];
}

/** Too narrow for a table: each cell under the name of its column. */
function listedRows({ head, rows }: Table, columns: number): readonly Line[] {
  return rows.flatMap((row, at) => {
    const lines = row.flatMap((cell, column) => {
      const name = head[column] ?? [];
      return wrapLine([...name, span(': ', 'dim'), ...cell], { columns, hang: [span('  ')] });
    });
    return at === 0 ? lines : [[], ...lines];
  });
}
