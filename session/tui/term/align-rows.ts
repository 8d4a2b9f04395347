import { columnsOf, type Row, sameCell } from './row.ts';

/** What moving rows costs beside writing. */
const moveCost = 8;

/**
 * Where rows are put in or taken out so that the least is written: the rows before the answer stay where they are,
 * those behind it stay what they are and give way.
 */
export function alignRows(from: readonly Row[], to: readonly Row[]): number {
  const kept = Math.min(from.length, to.length);
  const more = Math.max(0, to.length - from.length);
  const [laterFrom, laterTo] = [from.length - kept, to.length - kept];
  let cost = moveCost;
  for (let row = 0; row < more; row += 1) cost += changeCost([], to[row]);
  for (let row = 0; row < kept; row += 1) cost += changeCost(from[row + laterFrom], to[row + laterTo]);
  let [least, best] = [cost, 0];
  for (let row = 0; row < kept; row += 1) {
    cost += changeCost(from[row], to[row]) - changeCost(from[row + laterFrom], to[row + laterTo]);
    if (more > 0) cost += changeCost([], to[row + more]) - changeCost([], to[row]);
    if (row === kept - 1) cost -= moveCost;
    if (cost <= least) [least, best] = [cost, row + 1];
  }
  return best;
}

/** About how many columns are written to make one row the other. */
function changeCost(from: Row = [], to: Row = []): number {
  let start = 0;
  while (start < to.length && start < from.length && sameCell(from[start], to[start])) start += 1;
  return start === to.length && start === from.length ? 0 : 1 + columnsOf(to.slice(start));
}
