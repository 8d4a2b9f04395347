/** Opens a thread for writing, and finds all threads. */
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { printable } from '../../core/base/printable.ts';
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
 * Opens or creates a thread for writing. THREAD_BUSY, JOURNAL_CORRUPT, OBJECT_CORRUPT if a link replaces its
 * directory, lock or journal, THREAD_UNPROVEN if this user did not write it on this machine: its author could have
 * approved in the user's name.
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
        await opened.sync();
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

/** THREAD_NOT_FOUND; `isRun`: the id is that of a run. */
export function threadNotFound(threadId: string, { isRun = false } = {}): WritError {
  const id = printable(threadId);
  return new WritError('THREAD_NOT_FOUND', {
    message: `there is no thread \`${id}\` in this repository`,
    detail: { thread_id: id },
    ...(isRun ? { hints: [`this is the id of a run; continue it with \`writ resume ${id}\``] } : {}),
  });
}

interface ThreadIds {
  /** Sorted. */
  readonly ids: readonly string[];
  /** Names of links, files and directories that belong to no thread. */
  readonly strangers: readonly string[];
}

/** Where the threads of a repository are. */
export function threadsRoot(repository: Pick<Repository, 'commonDir'>): string {
  return dirname(threadDirectory(repository, 'any'));
}

/**
 * The ids of all threads, from the names of their directories. STORAGE_PATH_INVALID if a link or a file replaces the
 * root directory.
 */
export async function listThreadIds(repository: Pick<Repository, 'commonDir'>): Promise<ThreadIds> {
  const root = threadsRoot(repository);
  const found = await lstat(root).catch(absent);
  if (found === undefined) return { ids: [], strangers: [] };
  if (!found.isDirectory())
    throw new WritError('STORAGE_PATH_INVALID', {
      message: `expected \`${root}\` to be a directory of its own: it is a link to another place`,
      detail: { path: root },
    });
  const ids: string[] = [];
  const strangers: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const id = entry.isDirectory() ? idOf(entry.name) : undefined;
    if (id === undefined) strangers.push(entry.name);
    else ids.push(id);
  }
  return { ids: ids.sort(), strangers: strangers.sort() };
}

function idOf(name: string): string | undefined {
  try {
    const id = decodeURIComponent(name);
    return encodeId(id) === name && !id.includes('\0') ? id : undefined;
  } catch {
    return undefined;
  }
}
