import { cellsOf } from '../../screen/cells.ts';
import { type Line, span } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';
import type { Completion } from './completion.ts';

const most = { rows: 8, nameCells: 32 };

/** The list around what is chosen, eight rows at most; where there is more, the last row says how many. */
export function drawCompletion(
  { choices, chosen }: Completion,
  columns: number,
  rows: number,
): readonly Line[] {
  const room = Math.min(most.rows, rows);
  if (room <= 0) return [];
  const isCut = choices.length > room && room > 1;
  const count = Math.min(choices.length, isCut ? room - 1 : room);
  const start = Math.max(0, Math.min(chosen - Math.floor(count / 2), choices.length - count));
  const shown = choices
    .slice(start, start + count)
    .map(({ name, detail }) => ({ name: visible(name), detail: visible(detail) }));
  const widest = Math.max(0, ...shown.map(({ name }) => cellsOf(name)));
  const cells = Math.min(widest, most.nameCells, columns);
  const lines = shown.map(({ name, detail }, index) => {
    const isChosen = start + index === chosen;
    const gap = ' '.repeat(Math.max(1, cells - cellsOf(name) + 2));
    const tone = isChosen ? 'selected' : 'plain';
    return [
      span(isChosen ? '› ' : '  ', tone),
      span(name, tone),
      ...(detail === '' ? [] : [span(gap + detail, 'dim')]),
    ];
  });
  return isCut ? [...lines, [span(`  ${chosen + 1} of ${choices.length}`, 'dim')]] : lines;
}
