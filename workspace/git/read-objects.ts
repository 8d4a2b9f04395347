/* Reads many git objects at once: blobs by path, types and sizes, and objects of a damaged repository. */
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { type GitDirectory, isGitFault } from './git.ts';
import { askObjects, objectsTooLarge } from './object-reader.ts';

const defaultMaxTotalBytes = 256 * 1024 * 1024;

/** Content of one path of a tree or commit; `undefined` if there is none. */
export async function readBlob(
  place: GitDirectory,
  treeish: string,
  path: string,
  maxBytes?: number,
): Promise<Buffer | undefined> {
  return (await readBlobs(place, treeish, [path], maxBytes)).get(path);
}

/**
 * Content of many paths with one request to git, in the given order; missing paths, directories and submodules are
 * left out. More than `maxTotalBytes` in all (default 256 MiB) is INPUT_TOO_LARGE.
 */
export async function readBlobs(
  place: GitDirectory,
  treeish: string,
  paths: Iterable<string>,
  maxTotalBytes = defaultMaxTotalBytes,
): Promise<Map<string, Buffer>> {
  // A path with a line break cannot be requested by name.
  const wanted = [...new Set(paths)].filter((path) => !/\n|\r$/.test(path));
  const found = new Map<string, Buffer>();
  let total = 0;
  await askObjects(place, {
    names: wanted.map((path) => `${treeish}:${path}`),
    command: 'contents',
    maxBytes: maxTotalBytes,
    take(index, object) {
      const path = wanted[index];
      if (path === undefined || object?.type !== 'blob' || object.bytes === undefined) return;
      total += object.sizeBytes;
      if (total > maxTotalBytes) throw objectsTooLarge(maxTotalBytes);
      found.set(path, object.bytes);
    },
  });
  return found;
}

/** Objects by id or revision expression, in the given order; `undefined` for one that does not exist. */
export async function readObjects(
  place: GitDirectory,
  names: readonly string[],
): Promise<readonly (GitObject | undefined)[]> {
  const found: (GitObject | undefined)[] = new Array(names.length).fill(undefined);
  await askObjects(place, {
    names,
    command: 'contents',
    maxBytes: defaultMaxTotalBytes,
    take(index, object) {
      if (object?.bytes !== undefined)
        found[index] = { id: object.id, type: object.type, bytes: object.bytes };
    },
  });
  return found;
}

interface ObjectHead {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** Types and sizes by id or revision expression, in the given order; `undefined` for an object that does not exist. */
export async function describeObjects(
  place: GitDirectory,
  names: readonly string[],
): Promise<readonly (ObjectHead | undefined)[]> {
  const found: (ObjectHead | undefined)[] = new Array(names.length).fill(undefined);
  await askObjects(place, {
    names,
    command: 'info',
    maxBytes: defaultMaxTotalBytes,
    take(index, object) {
      found[index] = object;
    },
  });
  return found;
}

interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const maxNames = 500;
const maxChunkBytes = 32 * 1024 * 1024;

/** Types and sizes of many objects; `undefined` for one that is missing or damaged. */
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
 * Reads many objects, at most 32 MiB at a time, and calls `take` for each, in any order; `undefined` for one that is
 * missing or damaged. `heads` has their sizes; an object without a head is not read.
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

/** Those of the ids that are commits in this repository. */
export async function presentCommits(
  place: GitDirectory,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const heads = await readHeads(place, ids);
  return new Set([...heads].flatMap(([id, head]) => (head?.type === 'commit' ? [id] : [])));
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

/**
 * Works on all items together; if git fails, on the halves, down to the single items that make it fail: n items with
 * one damaged cost log n processes.
 */
export async function halving<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  onDamaged: (item: T, fault: WritError) => void,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await work(items);
  } catch (fault) {
    const isDamage = isGitFault(fault) || isWritError(fault, 'INPUT_TOO_LARGE');
    if (!isDamage) throw fault;
    const [only] = items;
    if (items.length === 1 && only !== undefined) return onDamaged(only, fault);
    const middle = Math.ceil(items.length / 2);
    await halving(items.slice(0, middle), work, onDamaged);
    await halving(items.slice(middle), work, onDamaged);
  }
}

/** Blobs by expression (`<commit>:<path>`), each of at most `maxBytes`; all others are left out. */
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
