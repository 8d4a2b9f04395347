/* Objects and refs in plain files. */
import { renameSync, writeFileSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import {
  absent,
  findDirectory,
  makeDirectories,
  type Place,
  readPlainFile,
  writeDurably,
} from '../../../core/base/files.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import { fields, listOf, sha256Text, type TypeOf, text, time, wholeNumber } from '../../../store/shape.ts';
import { isRefName, requireRefName } from '../../../workspace/git/ref-name.ts';

/** Bytes under their SHA-256, as `objects/ab/cdef…` below `root`. */
export type LocalObjects = ReturnType<typeof openLocalObjects>;

export function openLocalObjects(root: string) {
  const fanOf = (sha256: string): string => sha256.slice(0, 2);
  return {
    /** Writes into `drafts` without making it part of the store. Answers the SHA-256. */
    draft(bytes: Uint8Array, drafts: string): string {
      const sha256 = sha256Hex(bytes);
      writeFileSync(join(drafts, sha256), bytes, { mode: 0o600 });
      return sha256;
    },
    /** Makes all drafts durable. */
    async settle(drafts: string): Promise<void> {
      const names = (await readdir(drafts)).values();
      const settleNext = async (): Promise<void> => {
        for (const name of names) await syncPath(join(drafts, name));
      };
      // The file system syncs several files together if the requests are concurrent.
      await Promise.all(Array.from({ length: 16 }, settleNext));
    },
    /** Makes every draft, settled before, part of the store. Only under the store's lock. */
    async adopt(drafts: string): Promise<void> {
      const fans = new Set<string>();
      for (const sha256 of await readdir(drafts)) {
        const fan = fanOf(sha256);
        const dir = fans.has(fan)
          ? join(root, 'objects', fan)
          : await makeDirectories({ root, parts: ['objects', fan] });
        fans.add(fan);
        // Over whatever is there: should that be damaged, it is whole again.
        renameSync(join(drafts, sha256), join(dir, sha256.slice(2)));
      }
      for (const dir of ['', ...fans]) await syncPath(join(root, 'objects', dir));
    },
    /** OBJECT_CORRUPT, naming the object, where it is missing, has other content, or more than `maxBytes`. */
    async read(sha256: string, maxBytes: number): Promise<Buffer> {
      const corrupt = (message: string, found: string, cause?: unknown): WritError =>
        new WritError('OBJECT_CORRUPT', {
          message: `the stored object \`${sha256}\` ${message}`,
          detail: { object: sha256, expected: sha256, found },
          cause,
        });
      try {
        const place = { root, parts: ['objects', fanOf(sha256), sha256.slice(2)] };
        const bytes = readPlainFile(place, maxBytes);
        if (bytes === undefined) throw corrupt('is missing', 'nothing');
        const found = sha256Hex(bytes);
        if (found !== sha256) throw corrupt('has other content', found);
        return bytes;
      } catch (fault) {
        if (isWritError(fault)) throw fault;
        throw corrupt(`cannot be read: ${messageOf(fault)}`, 'unreadable', fault);
      }
    },
    /** Deletes every object that is not `live`. Only under the store's lock. */
    async sweep(live: ReadonlySet<string>): Promise<void> {
      const objects = findDirectory({ root, parts: ['objects'] });
      if (objects === undefined) return;
      for (const fan of await readdir(objects)) {
        if (!/^[0-9a-f]{2}$/.test(fan)) continue;
        const dir = findDirectory({ root: objects, parts: [fan] });
        for (const rest of dir === undefined ? [] : await readdir(dir))
          if (!live.has(fan + rest)) await rm(join(objects, fan, rest), { force: true });
      }
    },
  };
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(absent);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** No ref name contains `~`. So `a~` and `a/b~` can coexist, where files `a` and `a/b` could not. */
const mark = '~';
const maxRefBytes = 200;

/** Names of versions below `root`, in its directory `refs`: one small file each. */
export function openLocalRefs(root: string) {
  const placeOf = (ref: string): Place => ({ root, parts: `${requireRefName(ref)}${mark}`.split('/') });
  /** `undefined` where the ref does not exist; OBJECT_CORRUPT where its file holds something else. */
  const read = async (ref: string): Promise<string | undefined> => {
    const corrupt = (why: string, cause?: unknown): WritError =>
      new WritError('OBJECT_CORRUPT', {
        message: `the stored ref \`${ref}\` cannot be read: ${why}`,
        detail: { ref },
        cause,
      });
    try {
      const bytes = readPlainFile(placeOf(ref), maxRefBytes);
      if (bytes === undefined) return undefined;
      const version = /^([0-9a-f]{64})\n$/.exec(bytes.toString('latin1'))?.[1];
      if (version === undefined) throw corrupt('it names no version');
      return version;
    } catch (fault) {
      throw isWritError(fault) ? fault : corrupt(messageOf(fault), fault);
    }
  };
  return {
    read,
    /** Durable. Only under the store's lock. */
    async write(ref: string, version: string): Promise<void> {
      const { parts } = placeOf(ref);
      const dir = await makeDirectories({ root, parts: parts.slice(0, -1) });
      await writeDurably(join(dir, parts.at(-1) ?? ''), `${version}\n`);
    },
    async remove(ref: string): Promise<void> {
      const { parts } = placeOf(ref);
      const dir = findDirectory({ root, parts: parts.slice(0, -1) });
      if (dir !== undefined) await rm(join(dir, parts.at(-1) ?? ''), { force: true });
    },
    /** Refs under a prefix, sorted by name; all without one. */
    async list(prefix?: string): Promise<readonly { readonly ref: string; readonly version: string }[]> {
      const found: { ref: string; version: string }[] = [];
      const pending = [prefix === undefined ? 'refs' : requireRefName(prefix.replace(/\/$/, ''))];
      for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
        const dir = findDirectory({ root, parts: at.split('/') });
        if (dir === undefined) continue;
        for (const entry of await readdir(dir, { withFileTypes: true })) {
          const name = `${at}/${entry.name}`;
          if (entry.isDirectory()) pending.push(name);
          const ref = name.slice(0, -mark.length);
          if (!name.endsWith(mark) || !isRefName(ref)) continue;
          const version = await read(ref);
          // Removed while we looked.
          if (version !== undefined) found.push({ ref, version });
        }
      }
      return found.sort((a, b) => compareBytes(a.ref, b.ref));
    },
  };
}

const storedFile = fields({ path: text, sha256: sha256Text, size_bytes: wholeNumber });
const manifest = fields({
  message: text,
  /** The version before it; none for the first. */
  parents: listOf(sha256Text),
  time,
  by: text,
  /** Sorted by path, in bytes. */
  files: listOf(storedFile),
});

/** One version of a ref in store `external-local`; its id is the SHA-256 of its bytes. */
export type VersionManifest = TypeOf<typeof manifest>;
export type StoredFile = TypeOf<typeof storedFile>;

/** Most bytes of a manifest: about a million files. */
export const maxManifestBytes = 256 * 1024 * 1024;

/** The bytes that a version is stored as: the same version, the same bytes. */
export function toManifestBytes(version: VersionManifest): Buffer {
  return Buffer.from(`${canonicalize(version)}\n`);
}

/** Reads a version back; OBJECT_CORRUPT for anything else. */
export function parseManifest(bytes: Uint8Array, sha256: string): VersionManifest {
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes: maxManifestBytes });
  const problems: string[] = [];
  manifest.check(value, '', problems);
  if (problems.length === 0) return value as VersionManifest;
  throw new WritError('OBJECT_CORRUPT', {
    message: `the stored version \`${sha256}\` is malformed: ${problems[0]}`,
    detail: { object: sha256, problems },
  });
}

/**
 * The files of a version with others put over them: a new path replaces a directory of that name, and a file above it.
 */
export function overlay(existing: Iterable<StoredFile>, added: Iterable<StoredFile>): readonly StoredFile[] {
  const files = new Map<string, StoredFile>();
  const directories = new Set<string>();
  for (const group of [existing, added]) {
    for (const file of group) {
      for (const above of directoriesOf(file.path)) {
        files.delete(above);
        directories.add(above);
      }
      if (directories.has(file.path)) {
        for (const path of files.keys()) if (path.startsWith(`${file.path}/`)) files.delete(path);
        for (const path of directories) if (path.startsWith(`${file.path}/`)) directories.delete(path);
        directories.delete(file.path);
      }
      files.set(file.path, file);
    }
  }
  return [...files.values()].sort((a, b) => compareBytes(a.path, b.path));
}

/** Git's order of paths. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function directoriesOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
