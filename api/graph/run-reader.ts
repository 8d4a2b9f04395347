import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../core/base/durable-file.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ObjectStore } from '../../core/contract/object-store.ts';
import { readRun } from '../../engine/run/record/read-run.ts';
import { createRecordBox } from '../../engine/run/state/record-box.ts';
import type { FoundRecord } from '../../engine/store/record/list-record-refs.ts';
import { waitingFolder } from '../../engine/store/record/waiting-folder.ts';
import { runDirectory } from '../../engine/store/run-directory.ts';
import { storeRefs } from '../../engine/store/store-refs.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { graphLimits } from './graph-limits.ts';
import type { KnownRun } from './known-threads.ts';
import { type RunReader, type RunSource, summaryPaths } from './read-runs.ts';
import type { RecordEntry, RecordReader } from './record-reader.ts';
import type { FoundFile, RunRecord } from './thread-record.ts';

/** Comes by runs where writ keeps them: on their refs, else in the directory of a run that is at work. */
export function createRunReader(
  repository: Repository,
  objects: ObjectStore,
  records: RecordReader,
): RunReader {
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
      for (const path of await createRecordBox(directory).list()) {
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
