import { dirname, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { Journal } from '../../store/journal.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { journalFile, requireOwnPlace } from '../../store/run-directory.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import type { Happened } from '../state/fact.ts';

/** A thread that this process writes: everything that happened in it, one line for each command. */
export interface OpenThread extends AsyncDisposable {
  /** What had happened when it was opened; let go of with the first append. */
  readonly facts: readonly Happened[];
  /** On disk when it resolves: all of them or none. EVIDENCE_WRITE_FAILED. */
  append(facts: readonly Happened[]): Promise<void>;
}

/** The directory of a thread, shared by linked work trees: `<git-common-dir>/writ/threads/<thread>`. */
export function threadDirectory(repository: Pick<Repository, 'commonDir'>, threadId: string): string {
  return join(repository.commonDir, 'writ', 'threads', encodeId(threadId));
}

/** The name under which a witness knows the journal of a thread. */
export function witnessName(threadId: string): string {
  return `thread-${threadId}`;
}

/** Type of a thread's records: what happened by one command. */
export const factsType = 'facts';

/**
 * Opens or begins a thread for writing. THREAD_BUSY where another process writes it, JOURNAL_CORRUPT, OBJECT_CORRUPT
 * where a link stands in its place or in that of its lock or journal, and THREAD_UNPROVEN for one that this user did
 * not write on this machine: whoever did could have approved in his name.
 */
export async function openThread(
  directory: string,
  threadId: string,
  { clock, witness }: { readonly clock: Clock; readonly witness: JournalWitness },
): Promise<OpenThread> {
  await requireOwnPlace(dirname(directory), []);
  await requireOwnPlace(directory, ['lock', journalFile]);
  const lock = await acquireProcessLock(join(directory, 'lock'), {
    busy: (holder) =>
      new WritError('THREAD_BUSY', {
        detail: {
          thread_id: threadId,
          ...(holder === undefined ? {} : { pid: holder.pid, host: holder.host }),
        },
      }),
  });
  const witnessed = await witness.open(witnessName(threadId));
  let journal: Journal | undefined;
  try {
    journal = await Journal.open(join(directory, journalFile), {
      clock,
      witness: witnessed,
      isReadOnce: true,
    });
    if (!journal.isAuthentic) throw new WritError('THREAD_UNPROVEN', { detail: { thread_id: threadId } });
    const opened = journal;
    let facts = toFacts(opened.records);
    opened.letGo();
    return {
      get facts() {
        return facts;
      },
      async append(happened) {
        facts = [];
        await opened.append(factsType, happened);
      },
      async [Symbol.asyncDispose]() {
        await opened.close();
        await lock.release();
      },
    };
  } catch (fault) {
    if (journal === undefined) await witnessed[Symbol.asyncDispose]();
    else await journal.close();
    await lock.release();
    throw fault;
  }
}

/** What happened, of records that are vouched for. */
export function toFacts(records: readonly JournalRecord[]): readonly Happened[] {
  return records.flatMap(({ type, data }) => (type === factsType ? (data as readonly Happened[]) : []));
}
