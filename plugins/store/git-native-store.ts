/* The store `git-native`: blobs under refs of the repository. */
import { WritError } from '../../core/base/errors.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import { readBlobs, readObjects } from '../../workspace/git/read-objects.ts';
import { listRefs, readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listRecordTree, type TreeEntry } from '../../workspace/git/tree.ts';
import { isStorePath } from '../../workspace/git/write-tree.ts';
import type { GitNativeOptions } from './write-git-native.ts';

const fewPaths = 32;
const maxTotalBytes = 256 * 1024 * 1024;

/**
 * Keeps objects as blobs under commits on refs of the person's repository: they travel with it and any git reads them.
 * Each write, or several at once, is at most one pack and one transaction of the refs.
 */
export function openGitNativeStore(repo: Repository, options: GitNativeOptions): ObjectStore {
  // A caller that lists a ref usually reads it next. The listing of a commit never changes.
  let listed: Listing | undefined;
  // Imported here, because read-only use does not need it.
  const writer = () => import('./write-git-native.ts');
  return {
    writeTree: async (ref, write) => (await writer()).writeGitNative(repo, ref, write, options),
    async writeTrees(writes) {
      await (await writer()).writeAllGitNative(repo, writes, options);
    },
    version: (ref) => readRef(repo, ref),
    async read(ref, path) {
      const version = await readRef(repo, ref);
      return version === undefined ? undefined : (await readPaths(repo, { ref, version }, [path])).get(path);
    },
    async readMany(ref, paths) {
      const version = await readRef(repo, ref);
      const before = listed?.version === version ? listed : undefined;
      listed = undefined;
      return version === undefined ? new Map() : readPaths(repo, { ref, version }, paths, before);
    },
    async list(ref) {
      const version = await readRef(repo, ref);
      if (version === undefined) return [];
      listed = { version, entries: await listRecordTree(repo, version, ref) };
      return listed.entries.map(({ path, object, sizeBytes }) => ({
        path,
        object,
        sizeBytes,
      }));
    },
    async refs(prefix) {
      return (await listRefs(repo, prefix)).map(({ ref, object }) => ({ ref, version: object }));
    },
    async remove(ref) {
      const old = await readRef(repo, ref);
      if (old !== undefined) await updateRefs(repo, [{ ref, old, new: undefined }], 'writ: remove');
    },
  };
}

interface Listing {
  readonly version: string;
  readonly entries: readonly TreeEntry[];
}

/** Git would look each path up from the front of its directory: many are found in one listing instead. */
async function readPaths(
  repo: Repository,
  { ref, version }: { readonly ref: string; readonly version: string },
  paths: Iterable<string>,
  listed?: Listing,
): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = new Set([...paths].filter(isStorePath));
  if (wanted.size <= fewPaths) return readBlobs(repo, version, wanted);
  const entries = (listed?.entries ?? (await listRecordTree(repo, version, ref))).filter(({ path }) =>
    wanted.has(path),
  );
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > maxTotalBytes) {
    throw new WritError('INPUT_TOO_LARGE', {
      message: `the objects asked for hold more than ${maxTotalBytes} bytes`,
      detail: { maxBytes: maxTotalBytes },
    });
  }
  const objects = await readObjects(
    repo,
    entries.map(({ object }) => object),
  );
  const found = new Map<string, Buffer>();
  for (const [index, { path }] of entries.entries()) {
    const bytes = objects[index]?.bytes;
    if (bytes !== undefined) found.set(path, bytes);
  }
  return found;
}

/** Slot `store`, name `git-native`. */
export const gitNativeSource: StoreSource = {
  open: ({ repository, clock, actorId }) => openGitNativeStore(repository, { clock, actorId }),
};
