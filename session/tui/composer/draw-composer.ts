/* Draws the composer: wraps its text into rows around the cursor. */
import { type Line, type Span, span, type Tone, visible } from '../../screen/line.ts';
import { cellsOf, clipLine, clipText, graphemes, wrapLine } from '../../screen/wrap.ts';
import { borderAtOrBefore, type Folded, foldAt } from './buffer.ts';
import { drawCompletion } from './completion.ts';
import type { Composer } from './composer.ts';

interface DrawnComposer {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const most = { queued: 3, notices: 4 };

/**
 * Draws the queue, the text, and below it the list, the search or a notice: at most `rows` lines of at most `columns`
 * cells. The text scrolls around the cursor; `↑` and `↓` mark that there is more.
 */
export function drawComposer(
  composer: Composer,
  { columns, rows }: { columns: number; rows: number },
): DrawnComposer {
  const below = drawBelow(composer, columns, Math.max(0, rows - 1));
  const above = drawQueue(composer, columns, Math.min(most.queued, Math.max(0, rows - 1 - below.length)));
  const text = drawText(
    shownText(composer),
    composer.normal === undefined ? '> ' : ': ',
    columns,
    Math.max(1, rows - below.length - above.length),
  );
  const cut = (line: Line): Line => clipLine(line, columns);
  const lines = [...above.map(cut), ...text.lines, ...below.map(cut)];
  const cursor = { row: above.length + text.cursor.row, column: text.cursor.column };
  if (composer.search === undefined || below.length === 0) return { lines, cursor };
  const column = Math.min(cellsOf(searchWords(composer)), Math.max(0, columns - 1));
  return { lines, cursor: { row: above.length + text.lines.length, column } };
}

function shownText({ buffer, search, history }: Composer): Folded & { readonly cursor: number } {
  const found = search?.found === undefined ? undefined : history.entries[search.found]?.written;
  return found === undefined ? buffer : { ...found, cursor: found.text.length };
}

function drawText(
  page: Folded & { readonly cursor: number },
  sign: string,
  columns: number,
  rows: number,
): DrawnComposer {
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
    ...mark(
      prompt,
      index === 0 ? sign : '  ',
      index === 0 && isMore.above,
      index === seen.length - 1 && isMore.below,
    ),
    ...spansOf(row, columns - prompt),
  ]);
  const row = around.at - start;
  const inRow = seen[row];
  const column = inRow === undefined ? 0 : columnOf(inRow, page.cursor);
  return { lines, cursor: { row, column: Math.min(prompt + column, Math.max(0, columns - 1)) } };
}

function mark(cells: number, sign: string, above: boolean, below: boolean): readonly Span[] {
  if (cells === 0) return [];
  if (above || below) return [span(above && below ? '↕ ' : above ? '↑ ' : '↓ ', 'dim')];
  return [span(sign, sign.trim() === '' ? 'plain' : 'accent')];
}

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
  const notices = wrapLine([span(visible(notice.slice(0, columns * most.notices)), 'warn')], { columns });
  return [...list, ...notices.slice(0, Math.min(most.notices, rows - list.length))];
}

function searchWords({ search }: Composer): string {
  return `search: ${visible(search?.words ?? '')}`;
}

/** A row as it is drawn: the text from `from` to `to`. */
interface Row {
  readonly from: number;
  readonly to: number;
  readonly drawn: readonly Drawn[];
  /** Whether a line of the text ends here; else the place at `to` is in the next row. */
  readonly isLineEnd: boolean;
}

interface Rows {
  readonly rows: readonly Row[];
  readonly at: number;
  readonly hasAbove: boolean;
  readonly hasBelow: boolean;
}

/** Part of a line that is wrapped alone; only a line of more than 2,048 units has several. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly isLineEnd: boolean;
}

const size = 2048;

/**
 * The row of a place with up to `above` and `below` others. A cursor behind a full row needs one more cell, which the
 * caller keeps free.
 */
export function rowsAround(page: Folded, place: number, width: number, above: number, below: number): Rows {
  const { text } = page;
  let [first, last] = [blockAt(text, place), blockAt(text, place)];
  let rows = wrap(page, first, width);
  let at = rows.findLastIndex(({ from }) => from <= place);
  while (at < above && first.from > 0) {
    first = blockAt(text, first.from - 1);
    const more = wrap(page, first, width);
    rows = [...more, ...rows];
    at += more.length;
  }
  while (rows.length - 1 - at < below && !isLast(text, last)) {
    last = blockAt(text, last.isLineEnd ? last.to + 1 : last.to);
    rows = [...rows, ...wrap(page, last, width)];
  }
  const start = Math.max(0, at - above);
  const end = Math.min(rows.length, at + below + 1);
  return {
    rows: rows.slice(start, end),
    at: at - start,
    hasAbove: start > 0 || first.from > 0,
    hasBelow: end < rows.length || !isLast(text, last),
  };
}

export function columnOf(row: Row, place: number): number {
  return row.drawn.reduce((cells, one) => (one.to <= place ? cells + one.cells : cells), 0);
}

export function placeAt(row: Row, column: number): number {
  let cells = 0;
  for (const one of row.drawn) {
    if (cells + one.cells > column) return one.from;
    cells += one.cells;
  }
  return row.isLineEnd ? row.to : (row.drawn.at(-1)?.from ?? row.from);
}

function isLast(text: string, block: Block): boolean {
  return block.isLineEnd && block.to === text.length;
}

function blockAt(text: string, place: number): Block {
  const lineFrom = place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1;
  const end = text.indexOf('\n', place);
  const lineTo = end < 0 ? text.length : end;
  const start = (index: number): number => {
    const near = lineFrom + index * size;
    if (index === 0 || near >= lineTo) return Math.min(near, lineTo);
    const space = text.slice(near - 64, near).lastIndexOf(' ');
    return borderAtOrBefore(text, space < 0 ? near : near - 63 + space);
  };
  let index = Math.floor((place - lineFrom) / size);
  if (index > 0 && start(index) === lineTo) index -= 1;
  if (start(index + 1) < lineTo && start(index + 1) <= place) index += 1;
  const to = start(index + 1);
  return { from: start(index), to, isLineEnd: to === lineTo };
}

/** Wraps between words. A space behind a full row is not drawn. */
function wrap(page: Folded, block: Block, width: number): readonly Row[] {
  const rows: (readonly Drawn[])[] = [];
  let row: Drawn[] = [];
  let [cells, wordAt] = [0, 0];
  const push = (count: number): void => {
    rows.push(row.slice(0, count));
    row = row.slice(count);
    cells = row.reduce((sum, one) => sum + one.cells, 0);
    wordAt = 0;
  };
  for (const one of drawnBetween(page, block.from, block.to, width)) {
    const hangs = one.text === ' ' && cells === width;
    // Wide signs, folded pastes and escapes are words of their own.
    if (one.cells > 1) wordAt = row.length;
    while (!hangs && cells + one.cells > width && row.length > 0) push(wordAt > 0 ? wordAt : row.length);
    row.push(one);
    cells += one.cells;
    if (one.cells > 1 || one.text === ' ') wordAt = row.length;
    if (hangs) push(row.length);
  }
  // There is no cursor position after a space that overhangs the row.
  if (row.length > 0 || rows.length === 0 || block.isLineEnd) rows.push(row);
  let from = block.from;
  return rows.map((drawn, index) => {
    const to = drawn.at(-1)?.to ?? from;
    const next = { from, to, drawn, isLineEnd: block.isLineEnd && index === rows.length - 1 };
    from = to;
    return next;
  });
}

interface Drawn {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly cells: number;
  readonly tone: Tone;
}

export function drawnBetween(page: Folded, from: number, to: number, width: number): readonly Drawn[] {
  const drawn: Drawn[] = [];
  const piece = page.text.slice(from, to);
  if (/^[\x20-\x7e]*$/.test(piece)) {
    for (let at = 0; at < piece.length; at += 1)
      drawn.push({ from: from + at, to: from + at + 1, text: piece.charAt(at), cells: 1, tone: 'plain' });
    return drawn;
  }
  let at = from;
  for (const grapheme of graphemes(piece)) {
    drawn.push({ from: at, to: at + grapheme.length, ...shown(page, at, grapheme, width) });
    at += grapheme.length;
  }
  return drawn;
}

function shown(
  page: Folded,
  at: number,
  grapheme: string,
  width: number,
): Pick<Drawn, 'text' | 'cells' | 'tone'> {
  const label = grapheme.length === 1 ? foldAt(page, at)?.label : undefined;
  const next = page.text.codePointAt(at + grapheme.length);
  const { text, cells } =
    label === undefined
      ? seenAs(grapheme, next === undefined ? '' : String.fromCodePoint(next))
      : { text: label, cells: cellsOf(label) };
  const tone = label === undefined ? 'plain' : 'accent';
  if (cells <= width) return { text, cells, tone };
  const clipped = clipText(text, width);
  return { text: clipped, cells: cellsOf(clipped), tone };
}

interface Seen {
  readonly text: string;
  readonly cells: number;
}

/** Graphemes that are remembered: a page of text has a few hundred. */
const mostKnown = 4096;
/** Units of one grapheme that are drawn; what piles more marks on a letter is cut. */
const mostUnits = 32;
const tab = '    ';
const known = new Map<string, Seen>();

/** Cached, because every key press draws the same graphemes. `next` is the text that follows, or empty. */
function seenAs(grapheme: string, next: string): Seen {
  // A joiner at its end belongs there or not by what is behind it.
  if (/[\u200c\u200d]$/.test(grapheme)) return measured(beforeNext(cut(grapheme), next));
  const found = known.get(grapheme);
  if (found !== undefined) return found;
  const seen = measured(grapheme === '\t' ? tab : visible(cut(grapheme)));
  if (known.size >= mostKnown) known.clear();
  known.set(grapheme, seen);
  return seen;
}

function beforeNext(grapheme: string, next: string): string {
  const [both, behind] = [visible(grapheme + next), visible(next)];
  return both.endsWith(behind) ? both.slice(0, both.length - behind.length) : visible(grapheme);
}

function cut(grapheme: string): string {
  return grapheme.length <= mostUnits
    ? grapheme
    : grapheme.slice(0, mostUnits).replace(/[\ud800-\udbff]$/, '');
}

function measured(text: string): Seen {
  return { text, cells: cellsOf(text) };
}

/** Cells of the prompt, and of a row of text beside it; one more is free for the cursor behind a full row. */
export function textWidth(columns: number): { readonly prompt: number; readonly text: number } {
  const prompt = columns >= 8 ? 2 : 0;
  return { prompt, text: Math.max(1, columns - prompt - 1) };
}
