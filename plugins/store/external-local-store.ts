/* The store `external-local`: plain files beside the repository. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { makeDirectories } from '../../core/base/files.ts';
import type { ObjectStore, WriteTree } from '../../core/interfaces/store.ts';
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { requireRefName } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { requireStorePath } from '../../workspace/git/write-tree.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import {
  type LocalObjects,
  maxManifestBytes,
  openLocalObjects,
  openLocalRefs,
  overlay,
  parseManifest,
  type StoredFile,
  toManifestBytes,
  type VersionManifest,
} from './local/local-objects.ts';
import { conflict } from './write-git-native.ts';

export interface ExternalLocalOptions {
  readonly clock: Clock;
  /** Name on the versions; default `writ`. */
  readonly actorId?: string;
}

const lockWaitMs = 60_000;
const maxBlobBytes = 2 ** 31 - 1;

/**
 * Keeps objects as plain files under `<git-common-dir>/writ/store`: for development and tests. They do not travel with
 * the repository, and `anchors` are not kept alive. Content is checked by its SHA-256 at every reading: OBJECT_CORRUPT
 * names what is damaged or missing.
 */
export function openExternalLocalStore(
  repo: Pick<Repository, 'commonDir'>,
  { clock, actorId = 'writ' }: ExternalLocalOptions,
): ObjectStore {
  const root = rootOf(repo);
  const objects = openLocalObjects(root);
  const refs = openLocalRefs(root);
  const readVersion = async (version: string): Promise<VersionManifest> =>
    parseManifest(await objects.read(version, maxManifestBytes), version);
  const versionAt = async (ref: string): Promise<VersionManifest | undefined> => {
    const version = await refs.read(ref);
    return version === undefined ? undefined : readVersion(version);
  };
  const readMany = async (ref: string, paths: Iterable<string>): Promise<ReadonlyMap<string, Buffer>> => {
    const version = await versionAt(ref);
    const byPath = new Map(version?.files.map((file) => [file.path, file]));
    const found = new Map<string, Buffer>();
    for (const path of paths) {
      const file = byPath.get(path);
      if (file) found.set(path, await objects.read(file.sha256, maxBlobBytes));
    }
    return found;
  };
  const locked = async <T>(act: () => Promise<T>): Promise<T> => {
    const path = join(await makeDirectories({ root, parts: [] }), 'lock');
    const busy = (): WritError =>
      new WritError('EVIDENCE_WRITE_FAILED', { message: `the lock \`${path}\` is held`, detail: { path } });
    const lock = await acquireProcessLock(path, { waitMs: lockWaitMs, busy });
    try {
      return await act();
    } finally {
      await lock.release();
    }
  };

  return {
    async writeTree(ref, write) {
      requireRefName(ref);
      try {
        const current = await refs.read(ref);
        const old = write.expectedOld === undefined ? current : (write.expectedOld ?? undefined);
        // A repeatable write that is not current may be this very one, made by a process that was stopped right after
        // it.
        if (old !== current && write.atMs === undefined) throw conflict(ref, old, current);
        const drafts = await makeTemporary(repo);
        try {
          const added = await draftAll(objects, write, drafts);
          const before = write.keepExisting && old !== undefined ? (await readVersion(old)).files : [];
          const manifest = toManifestBytes({
            message: write.message.replace(/\p{Cc}+/gu, ' '),
            parents: old === undefined ? [] : [old],
            time: toRfc3339(write.atMs ?? clock.now()),
            by: actorId.replace(/\p{Cc}+/gu, ' '),
            files: overlay(before, added),
          });
          const version = objects.draft(manifest, drafts);
          await objects.settle(drafts);
          return await locked(async () => {
            const found = await refs.read(ref);
            if (found === version) return version;
            if (found !== old) throw conflict(ref, old, found);
            await objects.adopt(drafts);
            await refs.write(ref, version);
            return version;
          });
        } finally {
          await rm(drafts, { recursive: true, force: true });
        }
      } catch (cause) {
        throw writeFault(ref, cause);
      }
    },
    version: (ref) => refs.read(ref),
    read: async (ref, path) => (await readMany(ref, [path])).get(path),
    readMany,
    async list(ref) {
      const version = await versionAt(ref);
      return (version?.files ?? []).map(({ path, sha256, size_bytes: sizeBytes }) => ({
        path,
        object: sha256,
        sizeBytes,
      }));
    },
    refs: (prefix) => refs.list(prefix),
    async remove(ref) {
      if ((await refs.read(ref)) === undefined) return;
      try {
        await locked(async () => {
          await refs.remove(ref);
          // Under the lock no write is between its objects and its ref, so what no ref reaches is garbage.
          const live = new Set<string>();
          for (const { version } of await refs.list()) await mark(version, readVersion, live);
          await objects.sweep(live);
        });
      } catch (cause) {
        throw writeFault(ref, cause);
      }
    },
  };
}

/** Slot `store`, name `external-local`. */
export const externalLocalSource: StoreSource = {
  open: ({ repository, clock, actorId }) => openExternalLocalStore(repository, { clock, actorId }),
  beside: {
    isUsed: (repository) => existsSync(rootOf(repository)),
    list: (repository) => openLocalRefs(rootOf(repository)).list(),
  },
};

function rootOf({ commonDir }: Pick<Repository, 'commonDir'>): string {
  return join(commonDir, 'writ', 'store');
}

async function draftAll(
  objects: LocalObjects,
  write: WriteTree,
  drafts: string,
): Promise<readonly StoredFile[]> {
  const files: StoredFile[] = [];
  for await (const [path, bytes] of write.files) {
    requireStorePath(path);
    files.push({ path, sha256: objects.draft(bytes, drafts), size_bytes: bytes.length });
  }
  return files;
}

/** Adds a version, those before it, and all that they hold. */
async function mark(
  version: string,
  read: (version: string) => Promise<VersionManifest>,
  live: Set<string>,
): Promise<void> {
  for (let at: string | undefined = version; at !== undefined && !live.has(at); ) {
    live.add(at);
    const { files, parents }: VersionManifest = await read(at);
    for (const { sha256 } of files) live.add(sha256);
    at = parents[0];
  }
}

function writeFault(ref: string, cause: unknown): WritError {
  if (isWritError(cause, 'EVIDENCE_WRITE_FAILED')) return cause;
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` could not be written: ${messageOf(cause)}`,
    detail: { ref, ...(isWritError(cause) ? { reason: cause.detail } : {}) },
    cause,
  });
}
