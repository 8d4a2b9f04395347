import { rm } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { ObjectStore, WriteTree } from '../../core/contract/object-store.ts';
import type { StoreSource } from '../../core/contract/store-source.ts';
import { makeTemporary } from '../../engine/store/remove-litter.ts';
import { adoptObjects } from '../../engine/vcs/adopt-objects.ts';
import { describeObjects, readBlobs, readObjects } from '../../engine/vcs/blobs.ts';
import { writeCommit } from '../../engine/vcs/create-commit.ts';
import { importTree, isStorePath } from '../../engine/vcs/import-tree.ts';
import { listRefs, readRef, updateRefs } from '../../engine/vcs/refs.ts';
import { isObjectId, type Repository } from '../../engine/vcs/repository.ts';
import { createScratch, type Scratch } from '../../engine/vcs/scratch.ts';
import { listTree, type TreeEntry } from '../../engine/vcs/tree.ts';

export interface GitNativeOptions {
  readonly clock: Clock;
  /** Name on the commits; default `writ`. */
  readonly actorId?: string;
}

const fewPaths = 32;
const maxTotalBytes = 256 * 1024 * 1024;

/**
 * Keeps objects as blobs under commits on refs of the person's repository: they travel with it and any git reads them.
 * Each write is one pack (`importTree`) and one compare-and-swap of the ref.
 */
export function openGitNativeStore(repo: Repository, options: GitNativeOptions): ObjectStore {
  // Whoever lists a ref reads it next; of one commit, the listing is the same.
  let listed: Listing | undefined;
  return {
    async writeTree(ref, write) {
      const current = await readRef(repo, ref);
      const old = write.expectedOld === undefined ? current : (write.expectedOld ?? undefined);
      // A repeatable write that is not current may be this very one, made by a process that was stopped right after it.
      if (old !== current && write.atMs === undefined) throw conflict(ref, old, current);
      try {
        const commit = await importCommit(repo, write, old, options);
        if (commit === current) return commit;
        if (old !== current) throw conflict(ref, old, current);
        const outcome = await updateRefs(repo, [{ ref, old, new: commit }], write.message);
        const found = outcome.moved ? commit : outcome.stale[0]?.found;
        // Another process may have made the very same write at the same time.
        if (found !== commit) throw conflict(ref, old, found);
        return commit;
      } catch (cause) {
        if (isWritError(cause, 'EVIDENCE_WRITE_FAILED') || isWritError(cause, 'GIT_MISSING')) throw cause;
        throw new WritError('EVIDENCE_WRITE_FAILED', {
          message: `\`${ref}\` could not be written: ${messageOf(cause)}`,
          detail: { ref, ...(isWritError(cause) ? { reason: cause.detail } : {}) },
          cause,
        });
      }
    },
    version: (ref) => readRef(repo, ref),
    async read(ref, path) {
      const version = await readRef(repo, ref);
      return version === undefined ? undefined : (await readPaths(repo, version, [path])).get(path);
    },
    async readMany(ref, paths) {
      const version = await readRef(repo, ref);
      const before = listed?.version === version ? listed : undefined;
      listed = undefined;
      return version === undefined ? new Map() : readPaths(repo, version, paths, before);
    },
    async list(ref) {
      const version = await readRef(repo, ref);
      if (version === undefined) return [];
      listed = { version, entries: await listTree(repo, version) };
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
  version: string,
  paths: Iterable<string>,
  listed?: Listing,
): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = new Set([...paths].filter(isStorePath));
  if (wanted.size <= fewPaths) return readBlobs(repo, version, wanted);
  const entries = (listed?.entries ?? (await listTree(repo, version))).filter(({ path }) => wanted.has(path));
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

/**
 * Makes the commit in a directory of ours inside the repository's own file system, so that a full disk, a failing
 * source or a kill leaves nothing of it among the repository's objects, and only then moves the objects over.
 */
async function importCommit(
  repo: Repository,
  write: WriteTree,
  parent: string | undefined,
  { clock, actorId }: GitNativeOptions,
): Promise<string> {
  const dir = await makeTemporary(repo);
  try {
    const scratch = await createScratch(dir, repo);
    const place: Scratch = {
      ...scratch,
      // Evidence must outlive a power cut before the ref says that it exists; git leaves loose objects unsynced by
      // default.
      settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
    };
    const tree = await importTree(place, write.files, write.keepExisting ? parent : undefined, repo);
    const actor = { name: toName(actorId), email: 'writ@localhost' };
    const atMs = write.atMs ?? clock.now();
    const commit = {
      tree,
      parents: await requireCommits(repo, [
        ...(parent === undefined ? [] : [parent]),
        ...(write.anchors ?? []),
      ]),
      message: `${write.message.replace(/\p{Cc}+/gu, ' ')}\n`,
      author: actor,
      committer: actor,
      authoredAtMs: atMs,
      committedAtMs: atMs,
    };
    const id = await writeCommit(place, commit, true);
    await adoptObjects(scratch, repo);
    return id;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Git refuses a name of nothing but punctuation. */
function toName(actorId: string | undefined): string {
  const name = (actorId ?? '').replace(/[\p{Cc}<>]/gu, ' ').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name : 'writ';
}

/** A version must not name what is not there. */
async function requireCommits(repo: Repository, ids: readonly string[]): Promise<readonly string[]> {
  const found = await describeObjects(repo, ids.filter(isObjectId));
  const commits = new Set(found.map((object) => (object?.type === 'commit' ? object.id : undefined)));
  const bad = ids.find((id) => !commits.has(id));
  if (bad === undefined) return ids;
  throw new WritError('INTERNAL', { message: `\`${bad}\` is no commit here`, detail: { commit: bad } });
}

function conflict(ref: string, expected: string | undefined, found: string | undefined): WritError {
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` was written by another process`,
    detail: { ref, expected: expected ?? null, found: found ?? null },
  });
}
