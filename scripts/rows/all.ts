import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contractRows } from '../../engine/spec/contract-rows.ts';
import type { Removal } from '../removal/removal.ts';
import { type RowReader, toRemoval } from './row-reader.ts';

const own = new Set(['all.ts', 'row-reader.ts']);

/** The reader of every enforced row: the `readers` of each file beside this one, a file a heading of the contract. */
export const rowReaders: readonly RowReader[] = (
  await Promise.all(
    readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.ts') && !own.has(name))
      .sort()
      .map((name) => pathToFileURL(join(import.meta.dirname, name)).href)
      .map((url) => import(url) as Promise<{ readonly readers: readonly RowReader[] }>),
  )
).flatMap((file) => file.readers);

/** Each of them as something to break; readers of rows that there are not are left out. */
export const rowRemovals: readonly Removal[] = rowReaders.flatMap((reader) => {
  const row = contractRows.find(({ id }) => id === reader.row);
  return row === undefined ? [] : [toRemoval(reader, row)];
});
