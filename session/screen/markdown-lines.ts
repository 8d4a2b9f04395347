/* Renders Markdown blocks as lines of a terminal. */
import { type Line, type Span, span } from './line.ts';
import { type Align, type Block, type InlineLine, type Item, openBlocks } from './markdown-blocks.ts';
import { cellsOf, widthOf, wrapLine } from './wrap.ts';

export interface MarkdownStream {
  /** Returns the lines that this piece completes. They can be printed: later text does not change them. */
  push(text: string): readonly Line[];
  /** The open lines as if the text ended here; the next piece replaces them. */
  live(): readonly Line[];
  end(): readonly Line[];
}

export function openMarkdown(columns: () => number): MarkdownStream {
  const blocks = openBlocks();
  let before: Block | undefined;
  const read = (some: readonly Block[], keep: boolean): readonly Line[] => {
    let last = before;
    const lines = some.flatMap((block) => {
      const isApart = last !== undefined && isSeparate(last, block);
      last = block;
      const own = blockLines(block, columns());
      return isApart ? [[], ...own] : own;
    });
    if (keep) before = last;
    return lines;
  };
  return {
    push: (text) => read(blocks.push(text), true),
    live: () => read(blocks.live(), false),
    end: () => read(blocks.end(), true),
  };
}

export function markdownLines(text: string, { columns }: { readonly columns: number }): readonly Line[] {
  const stream = openMarkdown(() => columns);
  return [...stream.push(text), ...stream.end()];
}

/** Below this width, text is not indented: it would become a column of single words. */
const leastColumns = 12;
const widestRule = 40;

function blockLines(block: Block, columns: number): readonly Line[] {
  switch (block.type) {
    case 'heading':
      return wrapLine(block.text, { columns });
    case 'paragraph':
      return block.lines.flatMap((line) => wrapLine(line, { columns }));
    case 'code':
      return under(indent(2), indent(2), columns, (inner) =>
        block.lines.flatMap((line) => wrapLine(line, { columns: inner, anywhere: true })),
      );
    case 'quote':
      return under([span('│ ', 'quote')], [span('│ ', 'quote')], columns, (inner) =>
        allLines(block.blocks, inner),
      );
    case 'list':
      return block.items.flatMap((item) => itemLines(item, columns));
    case 'table':
      return tableLines(block, columns);
    case 'rule':
      return [[span('─'.repeat(Math.min(columns, widestRule)), 'dim')]];
  }
}

function allLines(blocks: readonly Block[], columns: number): readonly Line[] {
  return blocks.flatMap((block, at) => {
    const lines = blockLines(block, columns);
    const isApart = at > 0 && isSeparate(blocks[at - 1] ?? block, block);
    return isApart ? [[], ...lines] : lines;
  });
}

function isSeparate(before: Block, block: Block): boolean {
  if ('continues' in block && block.continues && before.type === block.type) return false;
  // A heading belongs to the block below it.
  if (before.type === 'heading' && block.type !== 'heading') return false;
  // A list belongs to the words that announce it.
  return !(block.type === 'list' && before.type === 'paragraph');
}

function itemLines({ marker, checked, isSpaced, blocks }: Item, columns: number): readonly Line[] {
  const box = checked === undefined ? '' : checked ? '[x] ' : '[ ] ';
  const head =
    marker === '' ? indent(2) : [span(`${marker} `, 'accent'), ...(box === '' ? [] : [span(box, 'accent')])];
  const hang = indent(widthOf([span(`${marker} `)]));
  const lines = under(head, marker === '' ? head : hang, columns, (inner) => allLines(blocks, inner));
  const shown = lines.length === 0 ? [head] : lines;
  return isSpaced ? [[], ...shown] : shown;
}

/** Indents lines behind a prefix; on a narrow screen the prefix is on the first line alone. */
function under(
  first: Line,
  others: Line,
  columns: number,
  inside: (columns: number) => readonly Line[],
): readonly Line[] {
  const used = Math.max(widthOf(first), widthOf(others));
  if (columns - used < leastColumns) {
    const lines = inside(columns);
    return widthOf(first) > columns ? lines : join(first, lines, columns);
  }
  return inside(columns - used).map((line, at) =>
    line.length === 0 && isSpaces(others) ? line : [...(at === 0 ? first : others), ...line],
  );
}

function join(first: Line, lines: readonly Line[], columns: number): readonly Line[] {
  const [head = [], ...rest] = lines;
  return isSpaces(first) ? lines : [...wrapLine([...first, ...head], { columns }), ...rest];
}

function isSpaces(line: Line): boolean {
  return line.every(({ text }: Span) => text.trim() === '');
}

function indent(columns: number): Line {
  return [span(' '.repeat(columns))];
}

type Table = Block & { type: 'table' };

/** The least width of a cell; a narrower table is rendered as a list of its cells. */
const leastCell = 6;
const between = ' │ ';
const crossing = '─┼─';

function tableLines(table: Table, columns: number): readonly Line[] {
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

/** Shrinks the widest columns first. `undefined` if a column would be too narrow to read. */
function fit(natural: readonly number[], room: number): readonly number[] | undefined {
  const total = natural.reduce((sum, width) => sum + width, 0);
  if (total <= room) return natural;
  if (room < natural.length * leastCell) return undefined;
  let [low, high] = [leastCell, room];
  const used = (most: number): number => natural.reduce((sum, width) => sum + Math.min(width, most), 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (used(middle) <= room) low = middle;
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
