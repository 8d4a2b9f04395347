/* Reads the threads of recorded runs: the files of a record, and the threads that runs name. */
import { isWritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { startedRun } from '../../engine/record/started-run.ts';
import type { ObjectType } from '../../store/object-shapes.ts';
import { readJournal } from '../../store/parse-journal.ts';
import type { FoundRecord } from '../../store/record/list-records.ts';
import { sealPaths, waitingFolder } from '../../store/record/record-paths.ts';
import { journalPath, listRunDirectories } from '../../store/run-directory.ts';
import { parseObject, type StoredObject } from '../../store/stored-object.ts';
import { readEach, readHeads } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listRecordTree } from '../../workspace/git/tree.ts';
import { graphLimits } from './drawing.ts';

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

/** A file of a record as read. If it cannot be read, `bytes` is absent and `problem` gives the reason. */
export interface FoundFile {
  readonly path: string;
  readonly bytes?: Uint8Array;
  readonly problem?: string;
}

/** One run of a thread, as read and not yet believed. */
export interface RunRecord {
  readonly runId: string;
  readonly state: RunView['state'];
  /** Where its files are stored: a ref, or the run's directory. */
  readonly place: string;
  readonly files: readonly FoundFile[];
  /** False: objects are there that were not read. */
  readonly isWhole: boolean;
  /** Why its files cannot be listed. */
  readonly problem?: string;
  /** Intent of the run from its start record, used until an object holds it. */
  readonly started?: { readonly summary: string; readonly specId: string; readonly digest: string };
}

/** One intent as its ref holds it. */
export interface IntentRecord {
  readonly place: string;
  readonly intent: FoundFile;
  /** In the order in which they were appended; of a long history the last. */
  readonly events: readonly FoundFile[];
}

/** All that is known of a thread. */
export interface ThreadRecord {
  readonly threadId: string;
  /** What its session calls it, where it has one. */
  readonly title?: string;
  /** The thread's own intent, the intents it superseded, and those that superseded it. */
  readonly intents: readonly IntentRecord[];
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  /** Older runs are left out. */
  readonly isTruncated: boolean;
}

/** Object types that are drawn, most informative first. At the limit, the last types are left out. */
export const drawnTypes = ['run', 'plan', 'decision', 'task', 'patchset', 'evidence', 'intent'] as const;

export type DrawnType = (typeof drawnTypes)[number];

/**
 * The object at a path of a run's record, by the layout of {@link recordFiles}. `undefined` if objects of that type
 * are not drawn.
 */
interface ObjectPath {
  readonly type: DrawnType;
  /** '' for the candidate that was decided on, else of an attempt or a candidate before it (`task-1/…/attempt-2`). */
  readonly folder: string;
}

const forms: readonly (readonly [DrawnType, RegExp])[] = [
  ['run', /^(?:(.+)\/)?run\.json$/],
  ['plan', /^(?:plans\/\d+\/)?plan\.json$/],
  ['task', /^(?:plans\/\d+\/)?tasks\/\d+\.json$/],
  [
    'decision',
    new RegExp(`^(?:${waitingFolder}/decision|decisions/[^/]+|${sealPaths.rollback.slice(0, -5)})\\.json$`),
  ],
  ['decision', /^(?:(.+)\/)?decision\.json$/],
  ['patchset', /^(?:(.+)\/)?patchset\.json$/],
  ['evidence', /^(?:(.+)\/)?evidence\/[^/]+\.json$/],
  ['intent', /^intent\.json$/],
];

/** Reads a path; `undefined` for what no drawing needs (events, frames, seals, reports). */
export function toObjectPath(path: string): ObjectPath | undefined {
  for (const [type, form] of forms) {
    const found = form.exec(path);
    if (found) return { type, folder: found[1] ?? '' };
  }
  return undefined;
}

/** A stored object, or the reason it is invalid. `id` is the object's own id, if it can be read. */
export type ParsedFile<T extends ObjectType> =
  | { readonly id: string; readonly object: StoredObject<T> }
  | { readonly id: string | undefined; readonly object: undefined; readonly problem: string };

/** Parses a file as an object of `type`. Damage is returned as `problem`, never thrown. */
export function parseFile<T extends ObjectType>(type: T, { bytes, problem }: FoundFile): ParsedFile<T> {
  if (bytes === undefined) return { id: undefined, object: undefined, problem: problem ?? 'it is missing' };
  try {
    const object = parseObject(type, bytes);
    return { id: object.object_id, object };
  } catch (fault) {
    if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    return { id: textIn(bytes, 'object_id', isUuid), object: undefined, problem: fault.message };
  }
}

/** A member of the document in `bytes`, whatever else is wrong with it; `undefined` where there is none that fits. */
function textIn(bytes: Uint8Array, member: string, isFit: (text: string) => boolean): string | undefined {
  try {
    const { value } = parseStrictJson(bytes);
    const found = Object.hasOwn(Object(value), member)
      ? (value as Record<string, unknown>)[member]
      : undefined;
    return typeof found === 'string' && isFit(found) ? found : undefined;
  } catch (fault) {
    if (!isWritError(fault, 'INTENTSPEC_MALFORMED')) throw fault;
    return undefined;
  }
}

/** A whole UUIDv7, which is what objects, runs and threads are called by. */
function isUuid(text: string): boolean {
  return text.length === 36 && uuidTimeMs(text) !== undefined;
}

/** One file of a record; `object` is what git calls its content. */
export interface RecordEntry {
  readonly path: string;
  readonly object: string;
  readonly sizeBytes: number;
}

/** Reads records from untrusted writers. A damaged, missing or too large file does not prevent reading the others. */
export interface RecordReader {
  /** Passes one file of each record to the callback, if it exists. Does not keep the file in memory. */
  each(
    records: readonly FoundRecord[],
    path: string,
    take: (record: FoundRecord, bytes: Uint8Array) => void,
  ): Promise<void>;
  /** Returns `undefined` if the entries cannot be listed. */
  list(record: FoundRecord): Promise<readonly RecordEntry[] | undefined>;
  read(record: FoundRecord, entries: readonly RecordEntry[]): Promise<readonly FoundFile[]>;
}

const tooLarge = `it is larger than ${graphLimits.objectBytes} bytes`;

/** Reads records of a repository: those in git by a few questions for all of them, those beside it one by one. */
export function createRecordReader(repository: Repository, objects: ObjectStore): RecordReader {
  const fromBeside = async (record: FoundRecord, entries: readonly RecordEntry[]): Promise<FoundFile[]> => {
    const files: FoundFile[] = [];
    for (const { path, sizeBytes } of entries) {
      const bytes =
        sizeBytes > graphLimits.objectBytes ? undefined : await readOne(objects, record.ref, path);
      files.push(bytes ? { path, bytes } : { path, problem: whyNot(sizeBytes) });
    }
    return files;
  };
  const list = async (record: FoundRecord): Promise<readonly RecordEntry[] | undefined> => {
    try {
      return await (record.commit === undefined
        ? objects.list(record.ref)
        : listRecordTree(repository, record.commit, record.ref));
    } catch (fault) {
      if (isWritError(fault)) return undefined;
      throw fault;
    }
  };
  return {
    list,
    async each(records, path, take) {
      const byName = new Map<string, FoundRecord>();
      for (const record of records) {
        if (record.commit !== undefined) byName.set(`${record.commit}:${path}`, record);
        else {
          const bytes = await readOne(objects, record.ref, path);
          if (bytes && bytes.length <= graphLimits.objectBytes) take(record, bytes);
        }
      }
      const heads = await readHeads(repository, byName.keys());
      const small = [...byName.keys()].filter((name) => {
        const head = heads.get(name);
        return head?.type === 'blob' && head.sizeBytes <= graphLimits.objectBytes;
      });
      await readEach(repository, small, heads, (name, object) => {
        const record = byName.get(name);
        if (record && object) take(record, object.bytes);
      });
    },
    async read(record, entries) {
      if (record.commit === undefined) return fromBeside(record, entries);
      const small = entries.filter(({ sizeBytes }) => sizeBytes <= graphLimits.objectBytes);
      const heads = new Map(
        small.map(({ object, sizeBytes }) => [object, { id: object, type: 'blob', sizeBytes }] as const),
      );
      const found = new Map<string, Uint8Array>();
      await readEach(repository, heads.keys(), heads, (id, object) => {
        if (object?.type === 'blob') found.set(id, object.bytes);
      });
      return entries.map(({ path, object, sizeBytes }) => {
        const bytes = found.get(object);
        return bytes ? { path, bytes } : { path, problem: whyNot(sizeBytes) };
      });
    },
  };
}

async function readOne(objects: ObjectStore, ref: string, path: string): Promise<Buffer | undefined> {
  try {
    return await objects.read(ref, path);
  } catch (fault) {
    if (isWritError(fault)) return undefined;
    throw fault;
  }
}

function whyNot(sizeBytes: number): string {
  return sizeBytes > graphLimits.objectBytes ? tooLarge : 'its content cannot be read';
}
