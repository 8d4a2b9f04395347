import { isWritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { factsType, threadDirectory } from './open-thread.ts';
import { readThreadJournal } from './read-thread-journal.ts';

/** Which model a thread was worked on with last, as its journal says: input from outside until it is validated. */
export interface RecordedModel {
  readonly provider: string;
  readonly model?: string;
  readonly apiBase?: string;
}

/** More than any name of a provider, path of a recording or address has. */
const maxText = 4096;

/** Reads what a thread records of its model; `undefined` if it records none, or its journal is damaged. */
export async function readRecordedModel(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<RecordedModel | undefined> {
  try {
    const { records = [] } = (await readThreadJournal(threadDirectory(repository, threadId))) ?? {};
    for (let at = records.length - 1; at >= 0; at -= 1) {
      const record = records[at];
      if (record?.type !== factsType || !Array.isArray(record.data)) continue;
      const fact = record.data.map(membersOf).findLast(({ type }) => type === 'opened' || type === 'resumed');
      if (fact !== undefined) return toModel(membersOf(fact.ground));
    }
    return undefined;
  } catch (fault) {
    // Opening the thread reports what is wrong with it.
    if (isWritError(fault, 'JOURNAL_CORRUPT') || isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

function toModel({ provider: recorded, apiBase }: Members): RecordedModel | undefined {
  const { provider, model } = membersOf(recorded);
  if (!isName(provider)) return undefined;
  return {
    provider,
    ...(isName(model) ? { model } : {}),
    ...(typeof apiBase === 'string' ? { apiBase } : {}),
  };
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxText && !/\p{Cc}/u.test(value);
}
