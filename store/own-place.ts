import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../core/base/errors.ts';
import { absent } from '../core/base/files.ts';

/**
 * OBJECT_CORRUPT where a link, or anything else, stands in place of a directory or of one of its files: whoever went on
 * would lock, read or write elsewhere, or wait for a pipe. Nothing of it need be there.
 */
export async function requireOwnPlace(directory: string, files: readonly string[]): Promise<void> {
  const found = await lstat(directory).catch(absent);
  if (found === undefined) return;
  if (!found.isDirectory()) throw foreign(directory, 'a directory of its own');
  for (const name of files) {
    const path = join(directory, name);
    const file = await lstat(path).catch(absent);
    if (file !== undefined && !file.isFile()) throw foreign(path, 'a file of its own');
  }
}

function foreign(path: string, what: string): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `expected \`${path}\` to be ${what}: what lies there leads elsewhere`,
    detail: { path },
    hints: ['look at what it is, then move it away'],
  });
}
