import { isWritError } from '../../core/base/errors.ts';
import { describeObjects, type GitObject, type ObjectHead, readObjects } from './blobs.ts';
import type { GitDirectory } from './git.ts';
import { isGitFault } from './git.ts';

const maxNames = 500;
const maxChunkBytes = 32 * 1024 * 1024;

/**
 * Type and size of many objects. One that makes git give up is told from the rest by halving, so damage costs log n
 * processes, not n.
 */
export async function readHeads(
  place: GitDirectory,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, ObjectHead | undefined>> {
  const heads = new Map<string, ObjectHead | undefined>();
  await halving(
    [...new Set(ids)],
    async (names) => {
      const answers = await describeObjects(place, names);
      for (const [index, id] of names.entries()) heads.set(id, answers[index]);
    },
    (id) => heads.set(id, undefined),
  );
  return heads;
}

/**
 * Reads many objects, at most 32 MiB of them at a time, and hands each to `take`, in no order; `undefined` for one that
 * is missing or damaged. `heads` tells how large they are; an object without a head is not read.
 */
export async function readEach(
  place: GitDirectory,
  ids: Iterable<string>,
  heads: ReadonlyMap<string, ObjectHead | undefined>,
  take: (id: string, object: GitObject | undefined) => void,
): Promise<void> {
  for (const chunk of chunksOf([...new Set(ids)], heads, (id) => take(id, undefined))) {
    await halving(
      chunk,
      async (names) => {
        const objects = await readObjects(place, names);
        for (const [index, id] of names.entries()) take(id, objects[index]);
      },
      (id) => take(id, undefined),
    );
  }
}

function* chunksOf(
  ids: readonly string[],
  heads: ReadonlyMap<string, ObjectHead | undefined>,
  absent: (id: string) => void,
): Generator<readonly string[]> {
  let chunk: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const head = heads.get(id);
    if (head === undefined) {
      absent(id);
      continue;
    }
    if (chunk.length === maxNames || (chunk.length > 0 && bytes + head.sizeBytes > maxChunkBytes)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(id);
    bytes += head.sizeBytes;
  }
  if (chunk.length > 0) yield chunk;
}

async function halving(
  ids: readonly string[],
  work: (ids: readonly string[]) => Promise<void>,
  damaged: (id: string) => void,
): Promise<void> {
  if (ids.length === 0) return;
  try {
    await work(ids);
  } catch (fault) {
    const isDamage = isGitFault(fault) || isWritError(fault, 'INPUT_TOO_LARGE');
    if (!isDamage) throw fault;
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) return damaged(only);
    const middle = Math.ceil(ids.length / 2);
    await halving(ids.slice(0, middle), work, damaged);
    await halving(ids.slice(middle), work, damaged);
  }
}

/**
 * Blobs by expression (`<commit>:<path>`), each of at most `maxBytes`; what is missing, damaged, larger or no blob is
 * left out, and hinders no other.
 */
export async function readSmall(
  place: GitDirectory,
  names: Iterable<string>,
  maxBytes: number,
): Promise<ReadonlyMap<string, Buffer>> {
  const heads = await readHeads(place, names);
  const small = [...heads].filter(([, head]) => head?.type === 'blob' && head.sizeBytes <= maxBytes);
  const found = new Map<string, Buffer>();
  await readEach(
    place,
    small.map(([name]) => name),
    heads,
    (name, object) => object && found.set(name, object.bytes),
  );
  return found;
}
