import type { GitDirectory } from '../../workspace/git/git.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import type { TreeEntry } from '../../workspace/git/tree.ts';

const maxBatchBytes = 32 * 1024 * 1024;
const maxBatchEntries = 10_000;

/** True for a file with content; not for symlinks and submodules. */
export function isFile(entry: TreeEntry): boolean {
  return entry.mode === '100644' || entry.mode === '100755';
}

/** Calls `take` with the content of each entry, in order, or with `undefined` if the content cannot be read. */
export type EachBlob = (
  entries: readonly TreeEntry[],
  take: (entry: TreeEntry, bytes: Buffer | undefined) => Promise<void> | void,
) => Promise<void>;

/**
 * Calls `take` with the content of each entry, in order, and holds about 32 MiB at a time. `bytes` is `undefined` if
 * the repository does not hold the object (a partial clone).
 */
export async function eachBlob(
  objects: GitDirectory,
  entries: readonly TreeEntry[],
  take: (entry: TreeEntry, bytes: Buffer | undefined) => Promise<void> | void,
): Promise<void> {
  for (let from = 0; from < entries.length; ) {
    let to = from;
    for (let bytes = 0; to < entries.length && to - from < maxBatchEntries; to += 1) {
      bytes += entries[to]?.sizeBytes ?? 0;
      if (bytes > maxBatchBytes && to > from) break;
    }
    const batch = entries.slice(from, to);
    const read = await readObjects(
      objects,
      batch.map(({ object }) => object),
    );
    for (const [index, entry] of batch.entries()) await take(entry, read[index]?.bytes);
    from = to;
  }
}
