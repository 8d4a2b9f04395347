import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { acquireProcessLock, type ProcessLock } from '../../workspace/process/process-lock.ts';

/**
 * Becomes the only writer of the ledger in `directory`, waiting at most `waitMs`, else LEDGER_BUSY. The lock is beside
 * the directory, which may be replaced as a whole.
 */
export async function takeLock(directory: string, clock: Clock, waitMs: number): Promise<ProcessLock> {
  const path = join(`${directory}-lock`, 'writer');
  return acquireProcessLock(path, {
    clock,
    waitMs,
    busy: (holder) =>
      new WritError('LEDGER_BUSY', {
        message:
          holder === undefined
            ? `the lock \`${path}\` of the internal ledger is held`
            : `process ${holder.pid} on \`${holder.host}\` holds the internal ledger`,
        detail: holder === undefined ? { path } : { path, pid: holder.pid, host: holder.host },
        hints: [
          'wait for the other `writ` to end and try again',
          `if no such process exists on any machine, remove \`${path}\``,
        ],
      }),
  });
}
