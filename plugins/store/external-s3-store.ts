/* The store `external-s3`: the store in git, with the content of artifacts in a bucket. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { createStreamer } from '../../core/base/net.ts';
import type { ContentProblem, ObjectStore, RefWrite } from '../../core/interfaces/store.ts';
import type { StorePlace, StoreSource } from '../../core/interfaces/store-source.ts';
import { s3PlaceOf } from '../../engine/config/table-reader.ts';
import {
  type ArtifactRef,
  contentMarker,
  malformedReference,
  parseArtifactRef,
} from '../../store/object-shapes.ts';
import { toJson } from '../../store/record/record-paths.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { defaultBranch } from '../../workspace/git/target.ts';
import { requireStorePath } from '../../workspace/git/write-tree.ts';
import { openGitNativeStore } from './git-native-store.ts';
import { forEachOf, openS3, type S3Client, type S3Pace } from './s3/s3-client.ts';
import { findS3Credentials, type StoreSecrets } from './s3/s3-credentials.ts';

const name = 'external-s3';
const atOnce = 4;
const marker = Buffer.from(`${name}\n`);
const maxConfigBytes = 256 * 1024;

/** An ArtifactRef, and where in the bucket its content is, below the prefix. */
type Placed = ArtifactRef & { readonly at: string };

/** The run that a content ref belongs to, by the ref's name: its folder in the bucket. */
function folderOf(ref: string): string | undefined {
  return /\/(?:content\/([^/]+)|fetched\/of-([^/]+)\/[^/]+-content)$/
    .exec(ref)
    ?.slice(1)
    .find((id) => id !== undefined);
}

/**
 * As the store in git, but a content ref holds one ArtifactRef per path and the marker, and the bucket holds the
 * bytes under `<prefix><run>/<sha256>`. Content refs without the marker are those of the store in git.
 */
export function openExternalS3Store(
  { repository, clock, actorId, config }: StorePlace,
  secrets: StoreSecrets,
  pace?: Partial<S3Pace>,
): ObjectStore {
  const git = openGitNativeStore(repository, { clock, actorId });
  let opened: Promise<S3Client> | undefined;
  const bucket = (): Promise<S3Client> => {
    opened ??= open();
    return opened;
  };
  async function open(): Promise<S3Client> {
    const place = s3PlaceOf(await (config?.() ?? readDefaultConfig()));
    return openS3(place, {
      stream: createStreamer(secrets.env).stream,
      credentials: () => findS3Credentials(repository, secrets),
      clock,
      ...(pace === undefined ? {} : { pace }),
    });
  }
  async function readDefaultConfig(): Promise<Uint8Array | undefined> {
    const branch = (await defaultBranch(repository)) ?? 'HEAD';
    return readBlob(repository, branch, '.writ/config.toml', maxConfigBytes);
  }

  const holdsRefs = async (ref: string): Promise<boolean> =>
    folderOf(ref) !== undefined && (await git.read(ref, contentMarker)) !== undefined;

  /** The ArtifactRefs of a content ref, by path; `undefined` if it holds the content itself. */
  async function refsAt(
    ref: string,
    paths?: Iterable<string>,
  ): Promise<ReadonlyMap<string, Placed> | undefined> {
    const folder = folderOf(ref);
    if (folder === undefined) return undefined;
    const wanted = paths ?? (await git.list(ref)).map(({ path }) => path);
    const files = await git.readMany(ref, [contentMarker, ...wanted]);
    if (!files.has(contentMarker)) return undefined;
    const found = new Map<string, Placed>();
    for (const [path, bytes] of files)
      if (path !== contentMarker) found.set(path, parseRef(folder, path, bytes));
    return found;
  }

  /** Puts the content first: a ref never leads to what is not stored. */
  async function toReferences([ref, write]: RefWrite): Promise<RefWrite> {
    const folder = folderOf(ref);
    if (folder === undefined || (config === undefined && !(await holdsRefs(ref)))) return [ref, write];
    const s3 = await bucket();
    const files = new Map<string, Uint8Array>([[contentMarker, marker]]);
    await forEachOf(write.files, atOnce, async ([path, bytes]) => {
      const sha256 = sha256Hex(bytes);
      const { contentType = 'application/octet-stream', expiresAt } =
        write.about?.(requireStorePath(path)) ?? {};
      await s3.put(`${folder}/${sha256}`, bytes, contentType);
      const pointer: ArtifactRef = {
        store: name,
        key: sha256,
        sha256,
        sizeBytes: bytes.length,
        contentType,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      files.set(path, toJson(pointer));
    });
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    return [ref, { ...write, files: sorted }];
  }
  async function putContent(writes: readonly RefWrite[]): Promise<readonly RefWrite[]> {
    try {
      const made: RefWrite[] = [];
      for (const write of writes) made.push(await toReferences(write));
      return made;
    } catch (cause) {
      // These say by themselves what to do.
      const named = [
        'STORE_UNCONDITIONAL',
        'STORE_CREDENTIALS',
        'KEY_INSECURE',
        'CONFIG_INVALID',
        'REF_INVALID',
      ];
      if (isWritError(cause) && named.includes(cause.code)) throw cause;
      const ref = writes[0]?.[0];
      throw new WritError('EVIDENCE_WRITE_FAILED', {
        message: `the content of \`${ref}\` could not be stored: ${messageOf(cause)}`,
        detail: { ref, ...(isWritError(cause) ? { code: cause.code, reason: cause.detail } : {}) },
        cause,
      });
    }
  }

  const readMany = async (ref: string, paths: Iterable<string>): Promise<ReadonlyMap<string, Buffer>> => {
    const wanted = [...paths];
    const pointers = await refsAt(ref, wanted);
    if (pointers === undefined) return git.readMany(ref, wanted);
    const s3 = await bucket();
    const found = new Map<string, Buffer>();
    await forEachOf(pointers, atOnce, async ([path, { at, ...expected }]) => {
      const bytes = await s3.get(at, expected);
      if (bytes === undefined) throw missing(ref, path, expected.sha256);
      found.set(path, bytes);
    });
    return new Map(wanted.flatMap((path) => (found.has(path) ? [[path, found.get(path) as Buffer]] : [])));
  };

  return {
    ...git,
    async writeTree(ref, write) {
      const [made = [ref, write] as const] = await putContent([[ref, write]]);
      return git.writeTree(...made);
    },
    writeTrees: async (writes) => git.writeTrees?.(await putContent(writes)),
    read: async (ref, path) => (await readMany(ref, [path])).get(path),
    readMany,
    async list(ref) {
      const entries = await git.list(ref);
      if (folderOf(ref) === undefined || !entries.some(({ path }) => path === contentMarker)) return entries;
      const pointers = await refsAt(
        ref,
        entries.map(({ path }) => path),
      );
      return entries.flatMap(({ path }) => {
        const pointer = pointers?.get(path);
        return pointer === undefined ? [] : [{ path, object: pointer.sha256, sizeBytes: pointer.sizeBytes }];
      });
    },
    async remove(ref) {
      if (await holdsRefs(ref)) await this.content?.expire(ref, undefined, false);
      await git.remove(ref);
    },
    content: {
      async ready(tries = false) {
        const s3 = await bucket();
        await findS3Credentials(repository, secrets);
        if (tries) await s3.tryWriters();
      },
      async expire(ref, paths, dryRun) {
        const pointers = await refsAt(ref);
        const folder = folderOf(ref);
        if (pointers === undefined || folder === undefined) return undefined;
        const isGone = new Set(paths ?? pointers.keys());
        const all = [...pointers].map(([path, one]) => ({ ...one, isGone: isGone.has(path) }));
        const kept = new Set(all.filter((one) => !one.isGone).map(({ at }) => at));
        const gone = all.filter((one) => one.isGone);
        if (!dryRun) {
          const s3 = await bucket();
          const over = new Set(gone.flatMap(({ at }) => (kept.has(at) ? [] : [at])));
          await forEachOf(over, atOnce, (at) => s3.remove(at));
          // What killed writes left, too.
          if (kept.size === 0) await s3.clear(`${folder}/`, (rest) => /^[0-9a-f]{64}$/.test(rest));
        }
        return gone.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      },
      async audit(ref, reads) {
        const problems: ContentProblem[] = [];
        const pointers = (await refsAt(ref)) ?? new Map<string, Placed>();
        if (pointers.size === 0) return problems;
        const s3 = await bucket();
        await forEachOf(pointers, atOnce, async ([path, { at, sha256, sizeBytes }]) => {
          const size = await s3.size(at);
          const note = (isThere: boolean, what: string) =>
            void problems.push({ path, isThere, what: `${what} in the object store (\`${at}\`)` });
          if (size === undefined) return note(false, 'it is not');
          if (size !== sizeBytes) return note(true, `expected ${sizeBytes} bytes, found ${size}`);
          if (!reads) return;
          try {
            if ((await s3.get(at, { sha256, sizeBytes })) === undefined) note(false, 'it is not');
          } catch (fault) {
            if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
            note(true, `expected ${sha256}, found ${String(fault.detail.found)}`);
          }
        });
        return problems.sort((a, b) => (a.path < b.path ? -1 : 1));
      },
    },
  };
}

/** Its key follows from the digest, its folder from the ref: a ref may come from others. */
function parseRef(folder: string, path: string, bytes: Buffer): Placed {
  const found = parseArtifactRef(bytes, path);
  if (found.store === name && found.key === found.sha256) return { ...found, at: `${folder}/${found.key}` };
  throw malformedReference(path, ['/key: it is not that of this store and digest']);
}

function missing(ref: string, path: string, sha256: string): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the content of \`${ref}:${path}\` is not in the object store`,
    detail: { object: sha256, expected: sha256, found: 'nothing' },
  });
}

/** Slot `store`, name `external-s3`. */
export function externalS3(secrets: StoreSecrets): StoreSource {
  return { open: (place) => openExternalS3Store(place, secrets), readsGit: true };
}
