import { type Line, type Span, span } from '../line.ts';
import { widthOf, wrapLine } from '../wrap.ts';
import type { Block, Item } from './block.ts';
import { tableLines } from './table-lines.ts';

/** Columns below which text is no longer indented: it would be a column of single words. */
const leastColumns = 12;
const widestRule = 40;

/** A block as lines that are at most so many columns wide. */
export function blockLines(block: Block, columns: number): readonly Line[] {
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

/** Blocks below each other, with an empty line between them. */
function allLines(blocks: readonly Block[], columns: number): readonly Line[] {
  return blocks.flatMap((block, at) => {
    const lines = blockLines(block, columns);
    const isApart = at > 0 && isSeparate(blocks[at - 1] ?? block, block);
    return isApart ? [[], ...lines] : lines;
  });
}

/** Whether an empty line stands between two blocks. */
export function isSeparate(before: Block, block: Block): boolean {
  if ('continues' in block && block.continues && before.type === block.type) return false;
  // What a heading is above of stands right below it.
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
  const told = lines.length === 0 ? [head] : lines;
  return isSpaced ? [[], ...told] : told;
}

/** Lines behind a beginning; where too little room would be left, it stands on a line of its own. */
function under(
  first: Line,
  others: Line,
  columns: number,
  inside: (columns: number) => readonly Line[],
): readonly Line[] {
  const taken = Math.max(widthOf(first), widthOf(others));
  if (columns - taken < leastColumns) {
    const lines = inside(columns);
    return widthOf(first) > columns ? lines : join(first, lines, columns);
  }
  return inside(columns - taken).map((line, at) =>
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
