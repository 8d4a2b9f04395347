/* Finds the threads that the records of a repository name. */
import { isWritError } from '../../core/base/errors.ts';
import { startedRun } from '../../engine/record/started-run.ts';
import { readJournal } from '../../store/parse-journal.ts';
import type { FoundRecord } from '../../store/record/list-records.ts';
import { journalPath, listRunDirectories } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isUuid, type RecordReader, type RunRecord, textIn } from './thread-record.ts';

/** A run and the thread that its record names. */
export interface KnownRun {
  readonly runId: string;
  readonly threadId: string;
  /** Absent for a run that is known by its journal alone. */
  readonly record?: FoundRecord;
  readonly started?: RunRecord['started'];
}

/** The records that show which threads exist. */
export interface KnownThreads {
  /** Oldest first. */
  readonly runs: readonly KnownRun[];
  readonly intents: readonly (FoundRecord & { readonly threadId: string | undefined })[];
}

/** Reads the thread of each run and each recorded intent. Runs without a recorded thread are left out. */
export async function knownThreads(
  repository: Repository,
  reader: RecordReader,
  found: { readonly runs: readonly FoundRecord[]; readonly intents: readonly FoundRecord[] },
): Promise<KnownThreads> {
  const runs = onePerRun(found.runs);
  const threads = await namedIn(reader, runs, 'run.json', 'thread_id');
  // If `run.json` is damaged or missing, the record still holds a copy of the intent.
  const untold = runs.filter(({ ref }) => !threads.has(ref));
  const byIntent = await namedIn(reader, untold, 'intent.json', 'object_id');
  const recorded = runs.flatMap((record): readonly KnownRun[] => {
    const threadId = threads.get(record.ref) ?? byIntent.get(record.ref);
    return threadId === undefined ? [] : [{ runId: record.id, threadId, record }];
  });
  const local = await runsAtWork(repository, new Set(runs.map(({ id }) => id)));
  const intents = await namedIn(reader, found.intents, 'intent.json', 'object_id');
  return {
    runs: [...recorded, ...local].sort((a, b) => (a.runId < b.runId ? -1 : 1)),
    intents: found.intents.map((record) => ({ ...record, threadId: intents.get(record.ref) })),
  };
}

/** Keeps one record for each run id. The default prefix `refs/ai` wins over configured prefixes. */
function onePerRun(found: readonly FoundRecord[]): readonly FoundRecord[] {
  const byId = new Map<string, FoundRecord>();
  for (const record of found)
    if (!byId.has(record.id) || record.prefix === 'refs/ai') byId.set(record.id, record);
  return [...byId.values()];
}

async function namedIn(
  reader: RecordReader,
  records: readonly FoundRecord[],
  path: string,
  member: string,
): Promise<ReadonlyMap<string, string>> {
  const named = new Map<string, string>();
  await reader.each(records, path, ({ ref }, bytes) => {
    const id = textIn(bytes, member, isUuid);
    if (id !== undefined) named.set(ref, id);
  });
  return named;
}

/** Runs that have begun and are on no ref yet. */
async function runsAtWork(
  repository: Repository,
  recorded: ReadonlySet<string>,
): Promise<readonly KnownRun[]> {
  const runs: KnownRun[] = [];
  for (const runId of await listRunDirectories(repository)) {
    if (recorded.has(runId)) continue;
    const started = await readStarted(repository, runId);
    if (started === undefined) continue;
    const { summary, id: specId, digest } = started.report.spec;
    runs.push({ runId, threadId: started.threadId, started: { summary, specId, digest } });
  }
  return runs;
}

/** Returns `undefined` if the journal has no start record: it is damaged, or the run never began. */
async function readStarted(repository: Repository, runId: string): Promise<ReturnType<typeof startedRun>> {
  try {
    return startedRun((await readJournal(journalPath(repository, runId))).records);
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return undefined;
    throw fault;
  }
}
