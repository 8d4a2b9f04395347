/** Checks all threads and their index for `writ fsck`. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isWritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { isAuthentic, type JournalWitness } from '../../store/journal-witness.ts';
import type { Problem } from '../../store/problem.ts';
import { journalFile } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { refresh } from './list-threads.ts';
import { listThreadIds, threadDirectory, threadsRoot, witnessName } from './open-thread.ts';
import { readThreadJournal } from './read-thread.ts';
import { scanThread, stampOf } from './scan-thread.ts';
import { threadIndexPath, withThreadIndex } from './thread-index.ts';

type Place = Pick<Repository, 'commonDir'>;
type Looking = Pick<JournalWitness, 'look'>;

/** What was looked at of threads, and everything that is wrong with them. */
export interface ThreadFindings {
  readonly threads: number;
  readonly problems: readonly Problem[];
}

/**
 * Checks every thread, also while sessions write them: its directory, journal and lock are its own, the chain holds,
 * this user's witness vouches for all of it, and the index says what the journals say. Changes nothing.
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

/** Of journals that have not changed since they were read, the index says what reading them again says. */
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

/** Rebuilds the index from the journals and returns its path; nothing if the old one cannot be removed. */
export async function rebuildThreadIndex(repository: Place): Promise<readonly string[]> {
  try {
    await withThreadIndex(repository, (index) => refresh(repository, index), { anew: true });
    return [threadIndexPath(repository)];
  } catch (fault) {
    if (isWritError(fault, 'DB_UNAVAILABLE')) return [];
    throw fault;
  }
}
