/** Lists the threads of a repository. */
import { join } from 'node:path';
import { toRfc3339 } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isProcessLockHeld } from '../../workspace/process/process-lock.ts';
import { listThreadIds, threadDirectory } from './open-thread.ts';
import { scanThread, stampOf, type ThreadScan, type ThreadSummary } from './scan-thread.ts';
import { type ThreadIndex, type ThreadPage, withThreadIndex } from './thread-index.ts';

interface ThreadItem {
  readonly id: string;
  readonly title?: string;
  /** Nothing archives a thread yet. */
  readonly archived: false;
  readonly currentIntentId?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ThreadList {
  readonly items: readonly ThreadItem[];
  /** Absent at the end of the list. */
  readonly nextOffset?: number;
}

/**
 * Lists the threads of a repository, last updated first, then by id. New lines of their journals are read first. A
 * damaged thread is listed with its sound part. STORAGE_PATH_INVALID, DB_UNAVAILABLE, THREAD_LIST_FAILED.
 */
export async function listThreads(
  repository: Pick<Repository, 'commonDir'>,
  { limit, offset }: ThreadPage,
): Promise<ThreadList> {
  try {
    // Nothing is made where there never was a session.
    const { ids } = await listThreadIds(repository);
    if (ids.length === 0) return { items: [] };
    const found = await withThreadIndex(repository, async (index) => {
      await refresh(repository, index);
      return index.page({ limit: limit + 1, offset });
    });
    const items = found.slice(0, limit).map(toItem);
    return found.length > limit ? { items, nextOffset: offset + limit } : { items };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('THREAD_LIST_FAILED', {
      message: `the threads could not be listed: ${messageOf(fault)}`,
      cause: fault,
    });
  }
}

const atOnce = 16;

/** Reads what journals say that the index does not know, and forgets threads that are gone. */
export async function refresh(repository: Pick<Repository, 'commonDir'>, index: ThreadIndex): Promise<void> {
  const { ids } = await listThreadIds(repository);
  const known = index.scans();
  const read = new Map<string, ThreadScan>();
  const gone = new Set(known.keys());
  const left = [...ids];
  const look = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const directory = threadDirectory(repository, id);
      const before = known.get(id);
      const stamp = await stampOf(directory);
      const scan = stamp === before?.stamp ? before : await scanThread(directory, id, before);
      if (scan !== undefined) gone.delete(id);
      if (scan !== undefined && scan !== before) read.set(id, scan);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, look));
  if (read.size + gone.size > 0) index.update(read, [...gone]);
}

function toItem({ id, title, currentIntentId, createdAtMs, updatedAtMs }: ThreadSummary): ThreadItem {
  return {
    id,
    ...(title === undefined ? {} : { title }),
    archived: false,
    ...(currentIntentId === undefined ? {} : { currentIntentId }),
    createdAt: toRfc3339(createdAtMs),
    updatedAt: toRfc3339(updatedAtMs),
  };
}

/** `open`: a process has the thread; `damaged`: its journal does not hold together; `closed`: it can be resumed. */
type ThreadState = 'open' | 'closed' | 'damaged';

interface ListedThread extends ThreadItem {
  readonly state: ThreadState;
}

interface ThreadsWithStates {
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
