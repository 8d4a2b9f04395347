import { readFileSync, readlinkSync } from 'node:fs';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { processesIn } from './process-tree.ts';

const rounds = 100;
/** Looks without the mark, as long as somebody executes who may have it. */
const unmarkedRounds = 25;
const waitMs = 20;
/** Looks at an environment that is empty: it may have been between two programs at each of them. */
const attempts = 10;

/**
 * Kills every process whose initial environment holds `mark` (`NAME=value`) and resolves when none is left; a process
 * that survives SIGKILL for two seconds throws SANDBOX_FAILED. Where there is no `/proc` it finds none.
 */
export async function endMarked(mark: string): Promise<void> {
  let unmarked = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { found, unnamed } = look(mark);
    if (found.length === 0) unmarked += 1;
    if (found.length === 0 && (!unnamed || unmarked > unmarkedRounds)) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
    await systemClock.sleep(waitMs);
  }
  throw new WritError('SANDBOX_FAILED', { message: 'a process of the command cannot be ended' });
}

/** Who has the mark, and whether there is somebody of whom that cannot be told. */
function look(mark: string): { readonly found: readonly number[]; readonly unnamed: boolean } {
  const found: number[] = [];
  let unnamed = false;
  for (const entry of processesIn('/proc')) {
    if (Number(entry) === process.pid) continue;
    const environment = environmentAt(`/proc/${entry}`);
    if (environment === undefined) unnamed = true;
    else if (environment.split('\0').includes(mark)) found.push(Number(entry));
  }
  return { found, unnamed };
}

/**
 * `undefined` for a process that executes another program, which has neither environment nor words meanwhile; empty for
 * one that has ended, is another user's, or has no environment.
 */
function environmentAt(at: string): string | undefined {
  try {
    // A thread of the kernel and one that has ended run no program.
    readlinkSync(`${at}/exe`);
    for (let left = attempts; left > 0; left -= 1) {
      const environment = readFileSync(`${at}/environ`, 'latin1');
      if (environment !== '') return environment;
      if (readFileSync(`${at}/cmdline`).length === 0) return undefined;
    }
  } catch {
    // As said.
  }
  return '';
}
