import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, writeDurably } from '../core/base/durable-file.ts';

/**
 * Keeps the directory, and this file in it, out of what git calls untracked; an existing `.gitignore` there is left as
 * it is.
 */
export async function ignoreDirectory(directory: string): Promise<void> {
  const path = join(directory, '.gitignore');
  // Whole or not at all: one that a kill left empty would be left as it is ever after.
  if ((await lstat(path).catch(absent)) === undefined) await writeDurably(path, '*\n');
}
