import { chmodSync, lstatSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { systemClock } from '../../core/base/clock.ts';

/**
 * ext, XFS, Btrfs, F2FS (statfs(2)): a write through a mapped page changes the time as any other does. In the memory of
 * tmpfs it leaves no trace; of others it is not known.
 */
const telling: ReadonlySet<bigint> = new Set([0xef53n, 0x58465342n, 0x9123683en, 0xf2f52010n]);
/** Longest time in which the clock of a file system is waited for. */
const longestWaitMs = 100;

/** Whether no write to a file below `path` leaves the time of its last change as it is, where the clock has ticked. */
export async function showsWrites(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return telling.has((await statfs(path, { bigint: true })).type);
}

/** Waits until the file system of a directory of ours says a later time than `ctimeNs`; false where that takes long. */
export async function ticksAfter(directory: string, ctimeNs: bigint): Promise<boolean> {
  const ends = systemClock.monotonic() + longestWaitMs;
  for (;;) {
    const { mode } = lstatSync(directory);
    chmodSync(directory, mode & 0o7777);
    if (lstatSync(directory, { bigint: true }).ctimeNs > ctimeNs) return true;
    if (systemClock.monotonic() > ends) return false;
    await systemClock.sleep(1);
  }
}
