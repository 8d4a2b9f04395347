import { isWritError } from '../../core/base/errors.ts';
import type { ObjectStore } from '../../core/contract/object-store.ts';
import type { FoundRecord } from '../../engine/store/record/list-record-refs.ts';
import { readEach, readHeads } from '../../engine/vcs/read-each.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { listRecordTree } from '../../engine/vcs/tree.ts';
import { graphLimits } from './graph-limits.ts';
import type { FoundFile } from './thread-record.ts';

/** One file of a record; `object` is what git calls its content. */
export interface RecordEntry {
  readonly path: string;
  readonly object: string;
  readonly sizeBytes: number;
}

/** Reads records that anybody may have written: what is damaged, missing or too large hinders nothing else. */
export interface RecordReader {
  /** Hands over one file of each record, as far as it is there; nothing of it is kept meanwhile. */
  each(
    records: readonly FoundRecord[],
    path: string,
    take: (record: FoundRecord, bytes: Uint8Array) => void,
  ): Promise<void>;
  /** `undefined` where they cannot be told. */
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
