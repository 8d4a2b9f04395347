import { cellsOf } from '../../screen/cells.ts';
import { clipLine } from '../../screen/clip.ts';
import { type Line, type Span, span } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import { wrapLine } from '../../screen/wrap.ts';
import type { Composer } from './composer.ts';
import { drawCompletion } from './draw-completion.ts';
import type { Folded } from './folds.ts';
import { columnOf, type Row, rowsAround } from './rows.ts';
import { textWidth } from './text-width.ts';

export interface DrawnComposer {
  readonly lines: readonly Line[];
  /** From 0, within the lines. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const most = { queued: 3, told: 4 };

/**
 * What waits, what is written, and below it the list, the search or what was refused: at most `rows` lines of at most
 * `columns` cells. The text is wrapped between words and scrolls around the cursor; `↑` and `↓` stand where there is
 * more.
 */
export function drawComposer(
  composer: Composer,
  { columns, rows }: { columns: number; rows: number },
): DrawnComposer {
  const below = drawBelow(composer, columns, Math.max(0, rows - 1));
  const above = drawQueue(composer, columns, Math.min(most.queued, Math.max(0, rows - 1 - below.length)));
  const text = drawText(shownText(composer), columns, Math.max(1, rows - below.length - above.length));
  const cut = (line: Line): Line => clipLine(line, columns);
  const lines = [...above.map(cut), ...text.lines, ...below.map(cut)];
  const cursor = { row: above.length + text.cursor.row, column: text.cursor.column };
  if (composer.search === undefined || below.length === 0) return { lines, cursor };
  const column = Math.min(cellsOf(searchWords(composer)), Math.max(0, columns - 1));
  return { lines, cursor: { row: above.length + text.lines.length, column } };
}

/** While something is found, that is shown in the place of what is written. */
function shownText({ buffer, search, history }: Composer): Folded & { readonly cursor: number } {
  const found = search?.found === undefined ? undefined : history.entries[search.found]?.written;
  return found === undefined ? buffer : { ...found, cursor: found.text.length };
}

function drawText(page: Folded & { readonly cursor: number }, columns: number, rows: number): DrawnComposer {
  const { prompt, text } = textWidth(columns);
  const around = rowsAround(page, page.cursor, text, rows - 1, rows - 1);
  const here = Math.floor(rows / 2);
  const start = Math.max(0, Math.min(around.at - here, around.rows.length - rows));
  const seen = around.rows.slice(start, start + rows);
  const isMore = {
    above: around.hasAbove || start > 0,
    below: around.hasBelow || start + rows < around.rows.length,
  };
  const lines = seen.map((row, index) => [
    ...mark(prompt, index === 0, index === 0 && isMore.above, index === seen.length - 1 && isMore.below),
    ...spansOf(row, columns - prompt),
  ]);
  const row = around.at - start;
  const inRow = seen[row];
  const column = inRow === undefined ? 0 : columnOf(inRow, page.cursor);
  return { lines, cursor: { row, column: Math.min(prompt + column, Math.max(0, columns - 1)) } };
}

function mark(cells: number, isFirst: boolean, above: boolean, below: boolean): readonly Span[] {
  if (cells === 0) return [];
  if (above || below) return [span(above && below ? '↕ ' : above ? '↑ ' : '↓ ', 'dim')];
  return [isFirst ? span('> ', 'accent') : span('  ')];
}

/** Neighbours of one tone are one span; a space that hangs over the last column is none. */
function spansOf({ drawn }: Row, columns: number): readonly Span[] {
  const spans: Span[] = [];
  let left = columns;
  for (const { text, tone, cells } of drawn) {
    left -= cells;
    if (left < 0) break;
    const last = spans.at(-1);
    if (last?.tone === tone) spans[spans.length - 1] = span(last.text + text, tone);
    else spans.push(span(text, tone));
  }
  return spans;
}

function drawQueue({ queue }: Composer, columns: number, rows: number): readonly Line[] {
  if (rows === 0) return [];
  const isAll = queue.length <= rows;
  const shown = isAll ? queue : queue.slice(0, rows - 1);
  const lines = shown.map((text) => [span(`waits: ${visible(text.slice(0, columns * 4))}`, 'dim')]);
  return isAll ? lines : [...lines, [span(`waits: ${queue.length - shown.length} more`, 'dim')]];
}

function drawBelow(composer: Composer, columns: number, rows: number): readonly Line[] {
  if (rows === 0) return [];
  const { search, completion, notice } = composer;
  if (search !== undefined) {
    const says = search.hasFailed
      ? '  nothing older'
      : search.words === ''
        ? '  type words of a message'
        : '';
    return [[span(searchWords(composer), 'accent'), span(says, 'dim')]];
  }
  const list = completion === undefined ? [] : drawCompletion(completion, columns, rows);
  if (notice === undefined || list.length >= rows) return list;
  const told = wrapLine([span(visible(notice.slice(0, columns * most.told)), 'warn')], { columns });
  return [...list, ...told.slice(0, Math.min(most.told, rows - list.length))];
}

function searchWords({ search }: Composer): string {
  return `search: ${visible(search?.words ?? '')}`;
}
