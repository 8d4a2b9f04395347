import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../../core/base/errors.ts';
import { requireOwnPlace } from '../../../store/run-directory.ts';
import { removeTree } from '../../../workspace/git/remove-tree.ts';
import type { Repository } from '../../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { threadDirectory } from '../../thread/open-thread.ts';
import { listThreadIds } from '../../thread/thread-ids.ts';

/** In the directory of a thread: the copy of the work tree that a command of the person runs on. */
export const shellPlace = 'shell';
/** What of one is being removed. */
const removed = 'shell-removed';

/**
 * Takes away the copies that killed sessions left: of threads that nobody writes. Whoever goes on with one meanwhile
 * finds it free but for an instant. What does not go is left to the next session.
 */
export async function sweepCopies(repository: Pick<Repository, 'commonDir'>, own: string): Promise<void> {
  const { ids } = await listThreadIds(repository).catch(() => ({ ids: [] }));
  for (const id of ids)
    if (id !== own) await sweepThread(threadDirectory(repository, id)).catch(() => undefined);
}

async function sweepThread(directory: string): Promise<void> {
  const [copy, aside] = [join(directory, shellPlace), join(directory, removed)];
  if (await stands(aside)) await removeTree(aside);
  if (!(await stands(copy))) return;
  await requireOwnPlace(directory, ['lock']);
  const lock = await acquireProcessLock(join(directory, 'lock'), {
    busy: () => new WritError('THREAD_BUSY'),
  });
  try {
    await rename(copy, aside);
  } finally {
    await lock.release();
  }
  await removeTree(aside);
}

function stands(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
