import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { readJournal } from '../../engine/store/parse-journal.ts';
import { journalFile } from '../../engine/store/run-directory.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Happened } from '../state/fact.ts';
import { factsType, threadDirectory } from './open-thread.ts';
import { listThreadIds } from './thread-ids.ts';

/** Ids of the threads that sessions of this repository have begun; none where there was no session. */
export async function listSessionThreads(
  repository: Pick<Repository, 'commonDir'>,
): Promise<readonly string[]> {
  return (await listThreadIds(repository)).ids;
}

/** What was said first in a thread, to call it by; `undefined` where nothing was, or its journal is damaged. */
export async function firstWords(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<string | undefined> {
  try {
    const { records } = await readJournal(join(threadDirectory(repository, threadId), journalFile));
    for (const { type, data } of records) {
      if (type !== factsType || !Array.isArray(data)) continue;
      const said = (data as readonly Happened[]).find((fact) => fact?.type === 'said');
      if (said?.type === 'said' && typeof said.text === 'string') return said.text;
    }
    return undefined;
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return undefined;
    throw fault;
  }
}
