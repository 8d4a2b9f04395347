import { graphLimits } from './graph-limits.ts';
import type { KnownRun } from './known-threads.ts';
import { type DrawnType, drawnTypes, toObjectPath } from './object-path.ts';
import type { RecordEntry } from './record-reader.ts';
import type { FoundFile, RunRecord } from './thread-record.ts';

/** What is read of a run of which not all is drawn. */
export const summaryPaths = ['run.json', 'intent.json', 'decision.json', 'rollback.json'] as const;

/** Where the files of a run are, and what reads them. */
export interface RunSource {
  /** A ref, else the run's directory. */
  readonly place: string;
  /** `undefined` where they cannot be told. */
  list(): Promise<readonly RecordEntry[] | undefined>;
  read(entries: readonly RecordEntry[]): Promise<readonly FoundFile[]>;
}

/** How one run is come by. */
export interface RunReader {
  open(run: KnownRun): RunSource;
  /** What stands in some files of many runs, by run id. */
  summaries(runs: readonly KnownRun[]): Promise<ReadonlyMap<string, readonly FoundFile[]>>;
  /** Of a run that no decision tells of. */
  stateOf(run: KnownRun, files: readonly FoundFile[]): Promise<RunRecord['state']>;
}

/**
 * The runs of a thread, oldest first: the newest in full as long as there is room, the others in outline. `isTruncated`
 * where the oldest are left out.
 */
export async function readRuns(
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

/** What is drawn, the most telling first. */
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
