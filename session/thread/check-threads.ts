/** Checks all threads and their index for `writ fsck`. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { openPrivateDirectory, writePrivateFile } from '../../http/private-files.ts';
import { isAuthentic, type JournalWitness } from '../../store/journal-witness.ts';
import { journalFile } from '../../store/run-directory.ts';
import type { Problem } from '../../store/stored-object.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isProcessLockHeld } from '../../workspace/process/process-lock.ts';
import { listThreadIds, threadDirectory, threadsRoot, witnessName } from './open-thread.ts';
import { readThreadJournal } from './read-thread.ts';
import { scanThread, stampOf, type ThreadScan, type ThreadSummary } from './scan-thread.ts';
import { type ThreadIndex, type ThreadPage, threadIndexPath, withThreadIndex } from './thread-index.ts';

type Place = Pick<Repository, 'commonDir'>;
type Looking = Pick<JournalWitness, 'look'>;

/** What was looked at of threads, and everything that is wrong with them. */
interface ThreadFindings {
  readonly threads: number;
  readonly problems: readonly Problem[];
}

/**
 * Checks every thread, also while sessions write to it. Its directory, journal and lock are its own, and the chain is
 * intact. This user's witness authenticates all of it, and the index agrees with the journals. Changes nothing.
 */
export async function checkThreads(repository: Place, witness: Looking): Promise<ThreadFindings> {
  const problems: Problem[] = [];
  try {
    const { ids, strangers } = await listThreadIds(repository);
    for (const name of strangers) {
      const what = 'expected the directory of a thread: what lies there is none of ours';
      problems.push({
        code: 'thread-foreign',
        where: join(threadsRoot(repository), name),
        what,
        dependsOn: [],
      });
    }
    for (const id of ids) problems.push(...(await checkThread(repository, id, witness)));
    if (ids.length > 0) problems.push(...(await checkIndex(repository, ids)));
    return { threads: ids.length, problems };
  } catch (fault) {
    if (!isWritError(fault, 'STORAGE_PATH_INVALID')) throw fault;
    const where = threadsRoot(repository);
    return { threads: 0, problems: [{ code: 'thread-foreign', where, what: fault.message, dependsOn: [] }] };
  }
}

async function checkThread(repository: Place, id: string, witness: Looking): Promise<readonly Problem[]> {
  const directory = threadDirectory(repository, id);
  const where = join(directory, journalFile);
  const told = (code: Problem['code'], what: string): readonly Problem[] => [
    { code, where, what, dependsOn: [`thread:${id}`] },
  ];
  // Looked at first: a writer may be ahead of what is known of it, and never behind.
  const known = await witness.look(witnessName(id));
  try {
    const journal = await readThreadJournal(directory);
    const records = journal?.records.length ?? 0;
    if (known.reached !== undefined && known.reached.records > records)
      return told('journal-cut', `it had ${known.reached.records} records, and has ${records}`);
    if (journal === undefined || isAuthentic(journal, known)) return [];
    return told(
      'thread-unproven',
      'it cannot be authenticated on this machine: it is shown, and cannot be continued',
    );
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return told('thread-foreign', fault.message);
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return told('journal-corrupt', fault.message);
    throw fault;
  }
}

/** For journals that have not changed since they were read, the index must equal a new reading. */
async function checkIndex(repository: Place, ids: readonly string[]): Promise<readonly Problem[]> {
  const where = threadIndexPath(repository);
  // It is made when threads are listed.
  if ((await lstat(where).catch(absent)) === undefined) return [];
  try {
    return await withThreadIndex(repository, async (index) => {
      const problems: Problem[] = [];
      const known = index.scans();
      for (const id of ids) {
        const directory = threadDirectory(repository, id);
        const before = known.get(id);
        if (before === undefined || (await stampOf(directory)) !== before.stamp) continue;
        const again = await scanThread(directory, id);
        if (isDeepStrictEqual(again, before) || again?.stamp !== before.stamp) continue;
        const what = `it says of thread ${id} what its journal does not say`;
        problems.push({ code: 'thread-index', where, what, dependsOn: [] });
      }
      return problems;
    });
  } catch (fault) {
    if (!isWritError(fault, 'DB_UNAVAILABLE')) throw fault;
    return [{ code: 'thread-index', where, what: fault.message, dependsOn: [] }];
  }
}

/** Rebuilds the index from the journals and returns its path. Empty if the old index cannot be removed. */
export async function rebuildThreadIndex(repository: Place): Promise<readonly string[]> {
  try {
    await withThreadIndex(repository, (index) => refresh(repository, index), { anew: true });
    return [threadIndexPath(repository)];
  } catch (fault) {
    if (isWritError(fault, 'DB_UNAVAILABLE')) return [];
    throw fault;
  }
}

/** Lists the threads of a repository. */

interface ThreadItem {
  readonly id: string;
  readonly title?: string;
  readonly archived: boolean;
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
    // If there never was a session, no index is created.
    const { ids } = await listThreadIds(repository);
    if (ids.length === 0) return { items: [] };
    const found = await withThreadIndex(repository, async (index) => {
      await refresh(repository, index);
      return index.page({ limit: limit + 1, offset });
    });
    const items = await Promise.all(found.slice(0, limit).map((one) => toItem(repository, one)));
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

/** Reads journals that changed since they were indexed, and removes absent threads from the index. */
async function refresh(repository: Pick<Repository, 'commonDir'>, index: ThreadIndex): Promise<void> {
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

async function toItem(
  repository: Place,
  { id, title, currentIntentId, createdAtMs, updatedAtMs }: ThreadSummary,
): Promise<ThreadItem> {
  const mark = await lstat(join(threadDirectory(repository, id), archivedMark)).catch(absent);
  return {
    id,
    ...(title === undefined ? {} : { title }),
    archived: mark !== undefined,
    ...(currentIntentId === undefined ? {} : { currentIntentId }),
    createdAt: toRfc3339(createdAtMs),
    updatedAt: toRfc3339(updatedAtMs),
  };
}

/** `open`: a process has the thread; `damaged`: its journal does not hold together; `closed`: it can be resumed. */
type ThreadState = 'open' | 'closed' | 'damaged';

export interface ListedThread extends ThreadItem {
  readonly state: ThreadState;
}

interface ThreadsWithStates {
  readonly threads: readonly ListedThread[];
  /** There are older threads than those listed. */
  readonly hasMore: boolean;
}

/** Which threads are listed; without a choice those that are not archived. */
interface ThreadChoice {
  readonly archived?: boolean | 'any';
  readonly matches?: (thread: ThreadItem) => boolean;
}

const maxPage = 200;

/** Name of the file in a thread's directory that takes it off the lists. */
const archivedMark = 'archived';

/** Archives a thread, or lists it again. Its journal stays as it is. */
export async function archiveThread(repository: Place, id: string, archived: boolean): Promise<void> {
  const directory = await openPrivateDirectory(threadDirectory(repository, id), []);
  const mark = join(directory, archivedMark);
  if (archived) await writePrivateFile(mark, '');
  else await rm(mark, { force: true });
}

/**
 * The threads of a repository with their states, last updated first, at most `limit` of them.
 * STORAGE_PATH_INVALID, DB_UNAVAILABLE, THREAD_LIST_FAILED.
 */
export async function listThreadsWithStates(
  repository: Pick<Repository, 'commonDir'>,
  limit: number,
  { archived = false, matches = () => true }: ThreadChoice = {},
): Promise<ThreadsWithStates> {
  const found: ThreadItem[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined && found.length <= limit) {
    const page: ThreadList = await listThreads(repository, { limit: maxPage, offset });
    found.push(
      ...page.items.filter((one) => (archived === 'any' || one.archived === archived) && matches(one)),
    );
    offset = page.nextOffset;
  }
  const items = found.slice(0, limit);
  if (items.length === 0) return { threads: [], hasMore: false };
  const scans = await withThreadIndex(repository, async (index) => index.scans());
  const threads: ListedThread[] = [];
  for (const item of items) {
    const isOpen = await isProcessLockHeld(join(threadDirectory(repository, item.id), 'lock'));
    const isDamaged = scans.get(item.id)?.isDamaged === true;
    threads.push({ ...item, state: isOpen ? 'open' : isDamaged ? 'damaged' : 'closed' });
  }
  return { threads, hasMore: found.length > limit };
}
