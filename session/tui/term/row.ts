import type { Line } from '../../screen/line.ts';
import { cellsOf } from './cells.ts';
import { seenText } from './seen-text.ts';
import { type Theme, withWords } from './theme.ts';

/** What stands at one place of a row: a character as a person sees it. */
export interface Cell {
  readonly text: string;
  /** Columns: one or two, seldom more. */
  readonly width: number;
  readonly look: string;
  /** Terminals are not of one mind about its width: an emoji, or several characters that are drawn as one. */
  readonly loose: boolean;
}

/** One row of a terminal. */
export type Row = readonly Cell[];

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const looseSigns =
  /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Co}\p{Cn}]|[\u200c\u200d]|[\ufe0e\ufe0f]/u;

/** A line as cells, however many columns it takes. Blanks at its end are none. */
export function toRow(line: Line, theme: Theme): Row {
  const cells: Cell[] = [];
  for (const { text, tone } of withWords(line, theme)) addText(cells, seenText(text), theme.look[tone]);
  return withoutBlanks(cells);
}

export function columnsOf(row: Row, end = row.length): number {
  let columns = 0;
  for (let at = 0; at < end; at += 1) columns += row[at]?.width ?? 0;
  return columns;
}

/** As much of a row as has room. */
export function cutRow(row: Row, columns: number): Row {
  let used = 0;
  const end = row.findIndex(({ width }) => {
    used += width;
    return used > columns;
  });
  return end === -1 ? row : withoutBlanks(row.slice(0, end));
}

/** How many rows one row becomes in a terminal that is narrower now and breaks what is too long. */
export function rowsWithin(row: Row, columns: number): number {
  let rows = 1;
  let used = 0;
  for (const { width } of row) {
    if (used + width > columns && used > 0) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}

export function sameCell(one: Cell | undefined, other: Cell | undefined): boolean {
  return one === other || (one?.text === other?.text && one?.look === other?.look);
}

function addText(cells: Cell[], text: string, look: string): void {
  if (/^[\x20-\x7e]*$/.test(text)) {
    for (const char of text) cells.push({ text: char, width: 1, look, loose: false });
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    const width = cellsOf(segment);
    const last = cells.at(-1);
    if (width > 0) cells.push({ text: segment, width, look, loose: isLoose(segment) });
    // A mark at the beginning of a span belongs to what stands before it; what cannot be seen is nothing.
    else if (last !== undefined && /\p{M}/u.test(segment)) {
      cells[cells.length - 1] = { ...last, text: last.text + segment, loose: true };
    }
  }
}

/** Marks above and below a letter are drawn as one with it everywhere. */
function isLoose(segment: string): boolean {
  return looseSigns.test(segment) || !/^.\p{Mn}*$/su.test(segment);
}

function withoutBlanks(row: Cell[]): Row {
  while (isBlank(row.at(-1))) row.pop();
  return row;
}

function isBlank(cell: Cell | undefined): boolean {
  return cell !== undefined && cell.text === ' ' && cell.look !== '4' && cell.look !== '7';
}
