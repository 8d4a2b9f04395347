import { canonicalize } from '../../../core/base/canonical.ts';
import { WritError } from '../../../core/base/errors.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import {
  fields,
  listOf,
  sha256Text,
  type TypeOf,
  text,
  time,
  wholeNumber,
} from '../../../engine/store/shape.ts';

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
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function directoriesOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
