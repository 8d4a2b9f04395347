import { type Line, span, textOf } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import { widthOf } from '../../screen/wrap.ts';
import { borderAtOrBefore } from '../composer/borders.ts';
import { drawnBetween } from '../composer/cells-of-text.ts';
import type { Composer } from '../composer/composer.ts';
import type { View } from '../view/view.ts';

export interface TypedLine {
  readonly line: Line;
  /** Cells before the cursor. */
  readonly column: number;
}

/** Units of a line that are looked at on each side of the cursor. */
const mostUnits = 1024;

/** What is being typed as one row of at most `columns - 1` cells: the line of the text that the cursor is in. */
export function typedLine({ composer, secret }: View, columns: number): TypedLine {
  if (secret !== undefined) {
    const marks = textOf(secret.draw());
    const line = [span(`> ${/^•+$/.test(marks) ? marks : ''}`)];
    return { line, column: widthOf(line) };
  }
  if (composer.search !== undefined) {
    const line = [span(`search: ${visible(composer.search.words)}`)];
    return { line, column: widthOf(line) };
  }
  return ofText(composer, Math.max(4, columns - 1));
}

function ofText({ buffer }: Composer, columns: number): TypedLine {
  const { text, cursor } = buffer;
  const lineFrom = cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
  const end = text.indexOf('\n', cursor);
  const lineTo = end < 0 ? text.length : end;
  const [from, to] = [cursor - mostUnits, cursor + mostUnits].map((at) =>
    borderAtOrBefore(text, Math.max(lineFrom, Math.min(lineTo, at))),
  );
  const row = text.slice(0, lineFrom).split('\n').length;
  const prompt = row === 1 ? '> ' : `${row}> `;
  const room = Math.max(2, columns - prompt.length);
  const drawn = drawnBetween(buffer, from ?? lineFrom, to ?? lineTo, room);
  let [before, width] = [0, 0];
  for (const one of drawn) {
    if (one.to <= cursor) before += one.cells;
    width += one.cells;
  }
  // A long line goes on by half a row, so that not every letter moves it.
  const half = Math.floor(room / 2);
  const start = width < room ? 0 : Math.max(0, Math.floor(before / half) - 1) * half;
  let [used, skipped, seen] = [0, 0, ''];
  for (const { text: sign, cells } of drawn) {
    if (skipped < start) skipped += cells;
    else if (used + cells <= room) {
      used += cells;
      seen += sign;
    } else break;
  }
  return { line: [span(prompt + seen)], column: prompt.length + before - skipped };
}
