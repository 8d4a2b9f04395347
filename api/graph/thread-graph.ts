/* Reads a thread from its records and returns it as a graph. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { printable } from '../../core/base/printable.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { createRecordCollector } from '../../engine/state/record-collector.ts';
import { type FoundRecord, listRecordRefs } from '../../store/record/list-records.ts';
import { waitingFolder } from '../../store/record/record-paths.ts';
import { runDirectory } from '../../store/run-directory.ts';
import { joinStores, openStores, type Place, storeRefs } from '../../store/stores.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { GraphData, GraphEdge, GraphNode } from '../schemas/other-schemas.ts';
import { graphLimits, maxLabel, openDrawing, toLine } from './drawing.ts';
import {
  createRecordReader,
  type DrawnType,
  drawnTypes,
  type FoundFile,
  type IntentRecord,
  type KnownRun,
  type KnownThreads,
  knownThreads,
  parseFile,
  type RecordEntry,
  type RecordReader,
  type RunRecord,
  toObjectPath,
} from './thread-record.ts';
import { toGraph } from './to-graph.ts';

/** The other thread of a fork, with the message of the older thread before which the fork begins. */
interface NamedFork {
  readonly way: 'from' | 'to';
  readonly thread: string;
  readonly entry: string;
  readonly words: string;
}

/** Threads that may have no run yet, with titles: those of sessions. */
export interface NamedThreads {
  list(repository: Repository): Promise<readonly string[]>;
  titleOf(repository: Repository, threadId: string): Promise<string | undefined>;
  /** Ids of the runs that a session has begun; untrusted. */
  runsOf(repository: Repository, threadId: string): Promise<readonly string[]>;
  /** Threads that this one is a fork of (`from`) and its forks (`to`); untrusted. */
  forksOf(repository: Repository, threadId: string): Promise<readonly NamedFork[]>;
}

/**
 * Returns a thread as a graph. `wanted` is a thread id or an unambiguous prefix of one. NOT_A_REPOSITORY,
 * THREAD_NOT_FOUND.
 */
export async function threadGraph(
  context: Place,
  wanted: string,
  sessions: NamedThreads,
): Promise<GraphData> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const open = await openStores(context.stores, repository, systemClock);
  const objects = joinStores(open);
  const reader = createRecordReader(repository, objects);
  const known = await knownThreads(repository, reader, {
    runs: await listRecordRefs(repository, open, 'runs'),
    intents: await listRecordRefs(repository, open, 'intents'),
  });
  const threadId = findThread(wanted, known, await sessions.list(repository));
  const title = await sessions.titleOf(repository, threadId);
  const named = title === undefined ? { threadId } : { threadId, title };
  const own = new Set(await sessions.runsOf(repository, threadId));
  // A session has a thread; each intent drafted in the session begins another.
  const threads = new Set(known.runs.flatMap((run) => (own.has(run.runId) ? [run.threadId] : [])));
  const isIntent = [...known.runs, ...known.intents].some((one) => one.threadId === threadId);
  const runReader = createRunReader(repository, objects, reader);
  const parts: GraphData[] = [];
  for (const thread of isIntent || threads.size === 0 ? [threadId, ...threads] : threads)
    parts.push(
      toGraph({
        ...(thread === threadId ? named : { threadId: thread }),
        intents: await readIntents(reader, known.intents, thread),
        ...(await readRuns(
          runReader,
          known.runs.filter((run) => run.threadId === thread),
        )),
      }),
    );
  const [only, ...more] = parts;
  const isOne = only !== undefined && more.length === 0 && only.thread_id === threadId;
  return withForks(isOne ? only : joinGraphs(named, parts), await sessions.forksOf(repository, threadId));
}

/** Adds a node for the thread, the thread that it is a fork of and each of its forks. Nothing without forks. Pure. */
export function withForks(graph: GraphData, forks: readonly NamedFork[]): GraphData {
  if (forks.length === 0) return graph;
  const { thread_id: own } = graph;
  const drawing = openDrawing(graphLimits.nodes, graphLimits.edges);
  const add = (thread: string, tag: string, detail: string): string | undefined =>
    drawing.add(
      { id: `thread ${thread}`, kind: 'thread', label: `thread ${thread}`, tags: [tag], detail },
      `thread ${thread}`,
    );
  const where = ({ entry, words }: NamedFork): string => {
    const quoted = words === '' ? '' : `: “${toLine(words, 60)}”`;
    return `before entry ${entry}${quoted}`;
  };
  const from = forks.find(({ way }) => way === 'from');
  const older = from && add(from.thread, 'origin', '');
  const told = from === undefined ? '' : `forked from thread ${from.thread} ${where(from)}`;
  const self = add(own, 'this-one', told);
  drawing.connect(older, self, 'fork');
  for (const fork of forks.filter(({ way }) => way === 'to'))
    drawing.connect(self, add(fork.thread, 'fork', `forked from thread ${own} ${where(fork)}`), 'fork');
  const { nodes, edges } = drawing;
  return { ...graph, nodes: [...nodes, ...graph.nodes], edges: [...edges, ...graph.edges] };
}

/** Shortest accepted id prefix, in characters. */
const fewest = 4;

/**
 * Resolves a thread id or an unambiguous prefix of one. If `wanted` is a run id, THREAD_NOT_FOUND names that run's
 * thread. `others` are thread ids without a run record: those of sessions.
 */
function findThread(wanted: string, { runs, intents }: KnownThreads, others: readonly string[]): string {
  const all = new Set([
    ...runs.map(({ threadId }) => threadId),
    ...intents.flatMap(({ threadId }) => threadId ?? []),
    ...others,
  ]);
  const fits = [...all]
    .filter((id) => id === wanted || (wanted.length >= fewest && id.startsWith(wanted)))
    .sort();
  const [thread] = fits;
  if (fits.length === 1 && thread !== undefined) return thread;
  const run =
    fits.length > 0 || wanted.length < fewest ? [] : runs.filter(({ runId }) => runId.startsWith(wanted));
  const threads = new Set(run.map(({ threadId }) => threadId));
  const [ofRun] = threads;
  throw new WritError('THREAD_NOT_FOUND', {
    message:
      fits.length > 1
        ? `\`${printable(wanted)}\` is the beginning of ${fits.length} thread ids`
        : `there is no thread \`${printable(wanted)}\` in this repository`,
    detail: { thread_id: printable(wanted), fits: fits.slice(0, 10) },
    ...(threads.size === 1
      ? { hints: [`this is the id of a run; its thread: \`writ graph ${ofRun}\``] }
      : {}),
  });
}

/** What came of one session is one graph: each of its intents with everything behind it. Pure. */
export function joinGraphs(
  { threadId, title }: { readonly threadId: string; readonly title?: string },
  parts: readonly GraphData[],
): GraphData {
  const byId = new Map<string, GraphNode>();
  const byEnds = new Map<string, GraphEdge>();
  for (const part of parts) {
    for (const node of part.nodes) {
      // What one part sees as its neighbour, another may have itself.
      const before = byId.get(node.id);
      if (before === undefined || before.tags.includes('other-thread')) byId.set(node.id, node);
    }
    for (const edge of part.edges) byEnds.set(`${edge.kind} ${edge.from} ${edge.to}`, edge);
  }
  const nodes = [...byId.values()].slice(0, graphLimits.nodes);
  const shown = new Set(nodes.map(({ id }) => id));
  const edges = [...byEnds.values()]
    .filter(({ from, to }) => shown.has(from) && shown.has(to))
    .slice(0, graphLimits.edges);
  const isCut = byId.size > nodes.length || byEnds.size > edges.length;
  return {
    thread_id: threadId,
    title: toLine(title ?? '', maxLabel) || (parts[0]?.title ?? `thread ${threadId}`),
    nodes,
    edges,
    ...(isCut || parts.some(({ truncated }) => truncated) ? { truncated: true } : {}),
  };
}

const eventPath = /^events\/\d+\.json$/;

/** The intent of a thread with its history, and those before and after it, one after the other. */
async function readIntents(
  reader: RecordReader,
  intents: readonly (FoundRecord & { readonly threadId: string | undefined })[],
  threadId: string,
): Promise<readonly IntentRecord[]> {
  const byName = new Map(intents.map((record) => [record.id, record]));
  const wanted = intents.filter((record) => record.threadId === threadId);
  const seen = new Set(wanted);
  const read: IntentRecord[] = [];
  for (const record of wanted) {
    const found = await readIntent(reader, record);
    read.push(found);
    for (const name of neighboursOf(found)) {
      const next = byName.get(name);
      if (next === undefined || seen.has(next) || wanted.length >= graphLimits.intents) continue;
      seen.add(next);
      // The loop comes to it.
      wanted.push(next);
    }
  }
  return read;
}

async function readIntent(reader: RecordReader, record: FoundRecord): Promise<IntentRecord> {
  const entries = (await reader.list(record)) ?? [];
  const events = entries
    .filter(({ path }) => eventPath.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(-graphLimits.events);
  const body = entries.filter(({ path }) => path === 'intent.json');
  const files = await reader.read(record, [...body, ...events]);
  const [intent] = body.length === 0 ? [] : files;
  return {
    place: record.ref,
    intent: intent ?? { path: 'intent.json', problem: '`intent.json` is missing' },
    events: files.slice(body.length),
  };
}

/** Intents that its history names, as refs call them. */
function neighboursOf({ events }: IntentRecord): readonly string[] {
  return events.flatMap((file) => {
    const { object } = parseFile('intent_event', file);
    return [object?.superseded_by, object?.supersedes].flatMap((id) =>
      id === undefined ? [] : encodeId(id),
    );
  });
}

/** Comes by runs where writ keeps them: on their refs, else in the directory of a run that is at work. */
function createRunReader(repository: Repository, objects: ObjectStore, records: RecordReader): RunReader {
  return {
    open: (run) =>
      run.record
        ? onRef(records, run.record)
        : inDirectory(join(runDirectory(repository, run.runId), 'record')),
    async summaries(runs) {
      const found = new Map<string, FoundFile[]>();
      const recorded = runs.flatMap(({ record }) => record ?? []);
      let bytesLeft: number = graphLimits.bytes;
      for (const path of summaryPaths)
        await records.each(recorded, path, ({ id }, bytes) => {
          bytesLeft -= bytes.length;
          if (bytesLeft < 0) return;
          const files = found.get(id);
          if (files) files.push({ path, bytes });
          else found.set(id, [{ path, bytes }]);
        });
      return found;
    },
    stateOf: (run, files) => stateOf(repository, objects, run, files),
  };
}

function onRef(records: RecordReader, record: FoundRecord): RunSource {
  return {
    place: record.ref,
    list: () => records.list(record),
    read: (entries) => records.read(record, entries),
  };
}

/** What a run has kept so far; its process may be writing while it is read. */
function inDirectory(directory: string): RunSource {
  return {
    place: directory,
    async list() {
      const entries: RecordEntry[] = [];
      for (const path of await createRecordCollector(directory).list()) {
        const found = await stat(join(directory, path)).catch(absent);
        if (found) entries.push({ path, object: '', sizeBytes: found.size });
      }
      return entries;
    },
    async read(entries) {
      const files: FoundFile[] = [];
      for (const { path, sizeBytes } of entries) {
        const bytes =
          sizeBytes > graphLimits.objectBytes
            ? undefined
            : await readFile(join(directory, path)).catch(absent);
        files.push(bytes ? { path, bytes } : { path, problem: 'its content cannot be read' });
      }
      return files;
    },
  };
}

async function stateOf(
  repository: Repository,
  objects: ObjectStore,
  { runId, record }: KnownRun,
  files: readonly FoundFile[],
): Promise<RunRecord['state']> {
  try {
    const refs = storeRefs(record?.prefix ?? 'refs/ai');
    return (await readRun(repository, { objects, refs }, runId)).state;
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return files.some(({ path }) => path.startsWith(`${waitingFolder}/`)) ? 'waiting' : 'interrupted';
  }
}

/** What is read of a run of which not all is drawn. */
const summaryPaths = ['run.json', 'intent.json', 'decision.json', 'rollback.json'] as const;

/** Where the files of a run are, and what reads them. */
interface RunSource {
  /** A ref, else the run's directory. */
  readonly place: string;
  /** Returns `undefined` if the entries cannot be listed. */
  list(): Promise<readonly RecordEntry[] | undefined>;
  read(entries: readonly RecordEntry[]): Promise<readonly FoundFile[]>;
}

/** How one run is come by. */
interface RunReader {
  open(run: KnownRun): RunSource;
  /** Reads a few files of many runs, keyed by run id. */
  summaries(runs: readonly KnownRun[]): Promise<ReadonlyMap<string, readonly FoundFile[]>>;
  /** State of a run without a recorded decision. */
  stateOf(run: KnownRun, files: readonly FoundFile[]): Promise<RunRecord['state']>;
}

/**
 * Returns the runs of a thread, oldest first. Within the size limit the newest are read in full, the others in
 * outline. `isTruncated` is true if the oldest are left out.
 */
async function readRuns(
  reader: RunReader,
  all: readonly KnownRun[],
): Promise<{ readonly runs: readonly RunRecord[]; readonly isTruncated: boolean }> {
  const runs = all.slice(-graphLimits.runs).toReversed();
  // Each is there with itself and its decision.
  let room = graphLimits.nodes - 2 * runs.length;
  let bytes = graphLimits.bytes;
  const read: RunRecord[] = [];
  let next = 0;
  for (; next < runs.length && room > 0 && bytes > 0; next += 1) {
    const run = runs[next];
    if (run === undefined) break;
    const source = reader.open(run);
    const listed = await source.list();
    const wanted = byImportance(listed ?? []);
    const taken = withinBytes(wanted.slice(0, room), bytes);
    const files = await source.read(taken);
    room -= taken.length;
    for (const file of files) bytes -= file.bytes?.length ?? 0;
    read.push({
      ...(await outline(reader, run, files)),
      place: source.place,
      isWhole: taken.length === wanted.length,
      ...(listed === undefined ? { problem: 'its record cannot be listed' } : {}),
    });
  }
  const rest = runs.slice(next);
  const summaries = await reader.summaries(rest);
  for (const run of rest) {
    const files = summaries.get(run.runId) ?? [];
    read.push({ ...(await outline(reader, run, files)), place: reader.open(run).place, isWhole: false });
  }
  return { runs: read.reverse(), isTruncated: runs.length < all.length };
}

async function outline(
  reader: RunReader,
  run: KnownRun,
  files: readonly FoundFile[],
): Promise<Omit<RunRecord, 'place' | 'isWhole'>> {
  const isDecided = files.some(({ path }) => path === 'decision.json');
  return {
    runId: run.runId,
    files,
    state: isDecided ? 'decided' : await reader.stateOf(run, files),
    ...(run.started ? { started: run.started } : {}),
  };
}

/** Entries to draw, most informative first. */
function byImportance(entries: readonly RecordEntry[]): readonly RecordEntry[] {
  const ranked = entries.flatMap((entry) => {
    const at = toObjectPath(entry.path);
    return at ? [{ entry, rank: rankOf(at.type, at.folder) }] : [];
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || (a.entry.path < b.entry.path ? -1 : 1))
    .map(({ entry }) => entry);
}

/** What is of the run as a whole before what is of its attempts. */
function rankOf(type: DrawnType, folder: string): number {
  const isSummary = type === 'intent' || (folder === '' && (type === 'run' || type === 'decision'));
  return isSummary ? -1 : drawnTypes.indexOf(type);
}

function withinBytes(entries: readonly RecordEntry[], most: number): readonly RecordEntry[] {
  let left = most;
  const end = entries.findIndex(({ sizeBytes }) => {
    // Larger ones are not read.
    left -= sizeBytes > graphLimits.objectBytes ? 0 : sizeBytes;
    return left < 0;
  });
  return end < 0 ? entries : entries.slice(0, end);
}
