import { chmod, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../../core/base/clock.ts';
import type { Voucher } from '../../../store/journal-witness.ts';
import { removeTree } from '../../../vcs/remove-tree.ts';
import { entryName } from './prepared-entry.ts';

const abandonedAfterMs = 24 * 60 * 60 * 1000;

/**
 * Makes the cache a place that nobody else may write to, and removes what killed processes left in it and entries that
 * this voucher does not know, once they are a day old. Where a link leads there it may hold anything else, and nothing
 * is removed.
 */
export async function openPrepareCache(cacheDir: string, voucher: Voucher): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  for (const part of [cacheDir, dirname(cacheDir), dirname(dirname(cacheDir))])
    if (!(await lstat(part)).isDirectory()) return;
  if (((await lstat(cacheDir)).mode & 0o022) !== 0) await chmod(cacheDir, 0o700);
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name);
    const status = isForeign(name, voucher) ? await lstat(path).catch(() => undefined) : undefined;
    if (status !== undefined && systemClock.now() - status.mtimeMs > abandonedAfterMs) await removeTree(path);
  }
}

/** Of a name that is not ours to judge we say nothing. */
function isForeign(name: string, voucher: Voucher): boolean {
  const key = /^([0-9a-f]{64})(?:-[0-9a-f]{32})?$/.exec(name)?.[1];
  return name.startsWith('tmp-') || (key !== undefined && name !== entryName(key, voucher));
}
