import { objectsTooLarge } from './answer-cutter.ts';
import type { GitDirectory } from './git.ts';
import { askObjects } from './object-reader.ts';

const defaultMaxTotalBytes = 256 * 1024 * 1024;

/** Content of one path of a tree or commit, or of one blob id; `undefined` where there is none. */
export async function readBlob(
  place: GitDirectory,
  treeish: string,
  path: string,
  maxBytes?: number,
): Promise<Buffer | undefined> {
  return (await readBlobs(place, treeish, [path], maxBytes)).get(path);
}

/**
 * Content of many paths with one question to git, in the order asked; absent paths, directories and submodules are left
 * out. More than `maxTotalBytes` in all (default 256 MiB) is INPUT_TOO_LARGE.
 */
export async function readBlobs(
  place: GitDirectory,
  treeish: string,
  paths: Iterable<string>,
  maxTotalBytes = defaultMaxTotalBytes,
): Promise<Map<string, Buffer>> {
  // A line break would end the question early; such a path cannot be asked for by name.
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

/** Objects by id or revision expression, in the order asked; `undefined` for what does not exist. */
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

/** What git says of an object without reading it. */
export interface ObjectHead {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** What objects are, by id or revision expression, in the order asked; `undefined` for what does not exist. */
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

/** One object as git stores it. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes: Buffer;
}
