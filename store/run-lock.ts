import { join } from 'node:path';
import { WritError } from '../core/base/errors.ts';
import {
  acquireProcessLock,
  isProcessLockHeld,
  type ProcessLock,
} from '../workspace/process/process-lock.ts';
import { requireOwnPlace } from './own-place.ts';

/**
 * Takes the lock of a run directory: held while one process works on the run. OBJECT_CORRUPT where a link stands in its
 * place. RUN_BUSY (detail: pid, host) while another one does.
 */
export async function acquireRunLock(directory: string): Promise<ProcessLock> {
  const path = join(directory, 'lock');
  await requireOwnPlace(directory, ['lock']);
  return acquireProcessLock(path, {
    busy: (holder) =>
      new WritError('RUN_BUSY', {
        message:
          holder === undefined
            ? `the lock \`${path}\` is held`
            : `process ${holder.pid} on \`${holder.host}\` works on this run`,
        detail: holder === undefined ? { path } : { path, pid: holder.pid, host: holder.host },
      }),
  });
}

/**
 * True while some process works on a run, as far as can be told from here; a lock that a killed process left does not
 * count.
 */
export async function isRunHeld(directory: string): Promise<boolean> {
  return isProcessLockHeld(join(directory, 'lock'));
}
