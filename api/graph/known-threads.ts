import { isWritError } from '../../core/base/errors.ts';
import { startedRun } from '../../engine/record/started-run.ts';
import { readJournal } from '../../store/parse-journal.ts';
import type { FoundRecord } from '../../store/record/list-records.ts';
import { journalPath, listRunDirectories } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isUuid, type RecordReader, type RunRecord, textIn } from './thread-record.ts';

/** A run and the thread that it says it is of. */
export interface KnownRun {
  readonly runId: string;
  readonly threadId: string;
  /** Absent for a run that is known by its journal alone. */
  readonly record?: FoundRecord;
  readonly started?: RunRecord['started'];
}

/** What says which threads there are. */
export interface KnownThreads {
  /** Oldest first. */
  readonly runs: readonly KnownRun[];
  readonly intents: readonly (FoundRecord & { readonly threadId: string | undefined })[];
}

/** Reads which thread each run and each recorded intent is of; a run of which nothing tells that is in none. */
export async function knownThreads(
  repository: Repository,
  reader: RecordReader,
  found: { readonly runs: readonly FoundRecord[]; readonly intents: readonly FoundRecord[] },
): Promise<KnownThreads> {
  const runs = onePerRun(found.runs);
  const threads = await namedIn(reader, runs, 'run.json', 'thread_id');
  // Whose `run.json` is damaged or gone still holds a copy of its intent.
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

/** The same run under several prefixes is shown once: as it stands where writ keeps runs unless told. */
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

/** `undefined` for a journal that does not say: it is damaged, or its run never began. */
async function readStarted(repository: Repository, runId: string): Promise<ReturnType<typeof startedRun>> {
  try {
    return startedRun((await readJournal(journalPath(repository, runId))).records);
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return undefined;
    throw fault;
  }
}
