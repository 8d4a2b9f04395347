import {
  type Advisory,
  type AdvisoryDatabase,
  advisoryKey,
  type PackageName,
} from '../../../readers/advisories/advisory.ts';
import { readIndex, readListed, shardOf } from './database-files.ts';

/** Opens the database in `root`; `undefined` where nothing was ever imported. ADVISORIES_CORRUPT. */
export function openAdvisoryDatabase(root: string): AdvisoryDatabase | undefined {
  const found = readIndex(root);
  if (!found) return undefined;
  const { generation, index } = found;
  const { digest, importedAt, newest, advisories, ecosystems } = index;
  return {
    digest,
    importedAt,
    newest,
    advisories,
    ecosystems,
    find(packages) {
      const wanted = new Map<string, Map<string, PackageName>>();
      for (const one of packages) {
        const shard = shardOf(one.ecosystem, one.name);
        const names = wanted.get(shard) ?? new Map<string, PackageName>();
        wanted.set(shard, names.set(one.name, one));
      }
      const answers = new Map<string, Advisory[]>();
      for (const [shard, names] of wanted) {
        for (const { name, json } of readRows(readListed(root, generation, index, shard))) {
          const one = names.get(name);
          if (one === undefined) continue;
          const key = advisoryKey(one);
          const list = answers.get(key) ?? [];
          answers.set(key, list);
          list.push(JSON.parse(json()) as Advisory);
        }
      }
      return answers;
    },
  };
}

/** A line of a shard: name, id, import number and the advisory, between tabs. */
export interface Row {
  readonly name: string;
  readonly id: string;
  readonly sequence: string;
  json(): string;
}

export function* readRows(bytes: Buffer): Generator<Row> {
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(10, at);
    const end = feed === -1 ? bytes.length : feed;
    const afterName = bytes.indexOf(9, at);
    const afterId = bytes.indexOf(9, afterName + 1);
    const afterSequence = bytes.indexOf(9, afterId + 1);
    yield {
      name: bytes.toString('utf8', at, afterName),
      id: bytes.toString('latin1', afterName + 1, afterId),
      sequence: bytes.toString('latin1', afterId + 1, afterSequence),
      json: () => bytes.toString('utf8', afterSequence + 1, end),
    };
    at = end + 1;
  }
}
