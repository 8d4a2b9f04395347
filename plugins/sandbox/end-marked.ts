import { readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';

const rounds = 100;
const waitMs = 20;

/**
 * Kills every process whose initial environment holds `mark` (`NAME=value`) and resolves when none is left; a process
 * that survives SIGKILL for two seconds throws SANDBOX_FAILED. Where there is no `/proc` it finds none.
 */
export async function endMarked(mark: string): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const found = marked(mark);
    if (found.length === 0) return;
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

function marked(mark: string): number[] {
  let entries: string[];
  try {
    entries = readdirSync('/proc');
  } catch {
    return [];
  }
  return entries
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && holds(pid, mark));
}

function holds(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
  } catch {
    // Ended, or another user's.
    return false;
  }
}
