import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomOctets } from '../../core/base/ids.ts';

/**
 * Puts a file in place whole or not at all, durable when it resolves: temporary file in `temporary` (same file
 * system), fsync, rename, fsync of the directory.
 */
export async function writeDurably(
  path: string,
  bytes: Uint8Array | string,
  temporary: string,
): Promise<void> {
  const draft = join(temporary, randomOctets(8).toString('hex'));
  const file = await open(draft, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  const parent = dirname(path);
  const created = await mkdir(parent, { recursive: true });
  await rename(draft, path);
  await syncDirectory(parent);
  if (created === undefined) return;
  for (let above = parent; above.length >= created.length; above = dirname(above))
    await syncDirectory(dirname(above));
}

/** Makes renames and unlinks in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
