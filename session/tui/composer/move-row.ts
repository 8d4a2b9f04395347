import { type Buffer, moved } from './buffer.ts';
import { columnOf, placeAt, rowsAround } from './rows.ts';

/** The cursor so many rows further down, or up where it is negative, in its column; `undefined` at the edge. */
export function moveRow(buffer: Buffer, width: number, by: number): Buffer | undefined {
  const { rows, at } = rowsAround(buffer, buffer.cursor, width, Math.max(0, -by), Math.max(0, by));
  const here = rows[at];
  const target = by < 0 ? rows[0] : rows.at(-1);
  if (here === undefined || target === undefined || target === here) return undefined;
  const column = buffer.column ?? columnOf(here, buffer.cursor);
  return moved(buffer, placeAt(target, column), column);
}
