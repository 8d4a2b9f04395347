import { link, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomOctets } from '../../core/base/ids.ts';
import type { ProcessIdentity } from './process-identity.ts';

/**
 * Makes turn `number` ours, and sweeps what is past. False where it is taken, or where a turn of that number or a higher one exists by
 * now: others went on while this process slept between looking and claiming.
 */
export async function claimTurn(directory: string, number: number, self: ProcessIdentity): Promise<boolean> {
  const own = String(number);
  const draft = join(directory, `draft-${randomOctets(8).toString('hex')}`);
  await writeFile(draft, JSON.stringify(self), { flag: 'wx', flush: true });
  try {
    await link(draft, join(directory, own));
  } catch (fault) {
    // ENOENT: a winner swept the draft away with those of the dead.
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw fault;
  } finally {
    await rm(draft, { force: true });
  }
  const others = (await readdir(directory)).filter((name) => name !== own);
  if (others.some((name) => turnNumber(name) >= number)) {
    await rm(join(directory, own), { force: true });
    return false;
  }
  // Only the owner sweeps: past turns, and drafts of processes that died before they claimed.
  for (const name of others) await rm(join(directory, name), { force: true, recursive: true });
  return true;
}

/** Number of a turn by its file name; 0 for any other file. */
export function turnNumber(name: string): number {
  return Number(/^([1-9][0-9]{0,14})(?:\.over)?$/.exec(name)?.[1] ?? 0);
}
