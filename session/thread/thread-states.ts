import { join } from 'node:path';
import type { Repository } from '../../workspace/git/repository.ts';
import { isProcessLockHeld } from '../../workspace/process/process-lock.ts';
import { listThreads, type ThreadItem } from './list-threads.ts';
import { threadDirectory } from './open-thread.ts';
import { withThreadIndex } from './thread-index.ts';

/** `open`: a process has the thread; `damaged`: its journal does not hold together; `closed`: it can be resumed. */
type ThreadState = 'open' | 'closed' | 'damaged';

export interface ListedThread extends ThreadItem {
  readonly state: ThreadState;
}

export interface ThreadsWithStates {
  readonly threads: readonly ListedThread[];
  /** There are older threads than those listed. */
  readonly hasMore: boolean;
}

/**
 * The threads of a repository with their states, last updated first, at most `limit` of them.
 * STORAGE_PATH_INVALID, DB_UNAVAILABLE, THREAD_LIST_FAILED.
 */
export async function listThreadsWithStates(
  repository: Pick<Repository, 'commonDir'>,
  limit: number,
): Promise<ThreadsWithStates> {
  const { items, nextOffset } = await listThreads(repository, { limit, offset: 0 });
  if (items.length === 0) return { threads: [], hasMore: false };
  const scans = await withThreadIndex(repository, async (index) => index.scans());
  const threads: ListedThread[] = [];
  for (const item of items) {
    const isOpen = await isProcessLockHeld(join(threadDirectory(repository, item.id), 'lock'));
    const isDamaged = scans.get(item.id)?.isDamaged === true;
    threads.push({ ...item, state: isOpen ? 'open' : isDamaged ? 'damaged' : 'closed' });
  }
  return { threads, hasMore: nextOffset !== undefined };
}
