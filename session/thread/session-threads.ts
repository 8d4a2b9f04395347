import { isWritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Happened } from '../state/fact.ts';
import { factsType, threadDirectory } from './open-thread.ts';
import { readThreadJournal } from './read-thread-journal.ts';
import { listThreadIds } from './thread-ids.ts';
import { isRequest } from './thread-summary.ts';

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
  const said = (await factsOf(repository, threadId)).flatMap((fact) =>
    fact.type === 'said' && typeof fact.text === 'string' ? [fact.text] : [],
  );
  return said.find(isRequest) ?? said[0];
}

const maxRuns = 1000;

/** Ids of the runs that a session began, in order; none where its journal is damaged. Anybody may have written them. */
export async function runsOfThread(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<readonly string[]> {
  const runs = (await factsOf(repository, threadId)).flatMap((fact) =>
    fact.type === 'run-began' && typeof fact.runId === 'string' ? [fact.runId] : [],
  );
  return [...new Set(runs)].slice(-maxRuns);
}

/** What of a journal has the form of a fact; nothing of one that is damaged, or leads elsewhere. */
async function factsOf(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<readonly Partial<Happened>[]> {
  try {
    const { records = [] } = (await readThreadJournal(threadDirectory(repository, threadId))) ?? {};
    return records.flatMap(({ type, data }) =>
      type === factsType && Array.isArray(data)
        ? data.filter((fact) => typeof fact === 'object' && fact !== null)
        : [],
    );
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT') || isWritError(fault, 'OBJECT_CORRUPT')) return [];
    throw fault;
  }
}
