/* Reads and writes files of a workspace, and types of web search. */
import { constants, type Dir, type Dirent, opendirSync, readdirSync, statSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readdir, unlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';

/**
 * Contents of a workspace file. The functions here expect that no program runs in the workspace. `path` is already
 * resolved (`realPathIn`), and its last name is never followed. An entry that is not a plain file causes a file
 * system error.
 */
interface ReadText {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly totalBytes: number;
}

/** The beginning of a file. */
export async function readWorkspaceFile(
  workspace: string,
  path: string,
  maxBytes: number,
): Promise<ReadText> {
  // What waits for somebody to write to it is opened without waiting.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(join(workspace, path), flags);
  const { size } = await requireFile(file);
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return { bytes: bytes.subarray(0, bytesRead), totalBytes: size };
}

/** Writes a file and the directories above it; an existing one keeps its mode. */
export async function writeWorkspaceFile(workspace: string, path: string, bytes: Uint8Array): Promise<void> {
  const place = join(workspace, path);
  await mkdir(dirname(place), { recursive: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(place, flags, 0o644);
  await requireFile(file);
  await file.truncate(0);
  await file.writeFile(bytes);
}

/** Removes a file or a link itself. */
export async function deleteWorkspaceFile(workspace: string, path: string): Promise<void> {
  await unlink(join(workspace, path));
}

interface DirectoryLimits {
  /** Called for each entry, with its path in the workspace. */
  readonly keep: (path: string) => boolean;
  readonly most: number;
}

/** Names in a directory, sorted, directories with a slash behind; at most so many, and whether there are more. */
export async function listWorkspaceDirectory(
  workspace: string,
  path: string,
  { keep, most }: DirectoryLimits,
): Promise<{ readonly names: readonly string[]; readonly more: boolean }> {
  const names: string[] = [];
  await using directory = await opendir(join(workspace, path));
  for await (const entry of directory) {
    if (names.length > most) break;
    if (!keep(posix.join(path, entry.name))) continue;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return { names: names.slice(0, most).sort(), more: names.length > most };
}

/**
 * Returns plain files at a path and below it, sorted within their directory. No symlink is followed, `.git` is
 * skipped, and a directory that `keep` rejects is not read. Only the path itself may be missing.
 */
export async function filesBelow(
  workspace: string,
  path: string,
  { keep, most }: DirectoryLimits,
): Promise<{ readonly files: readonly string[]; readonly more: boolean }> {
  const isDirectory = (await lstat(join(workspace, path))).isDirectory();
  if (!isDirectory) return { files: keep(path) ? [path] : [], more: false };
  const files: string[] = [];
  const pending = [path];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = await readdir(join(workspace, at), { withFileTypes: true }).catch(() => []);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const directories: string[] = [];
    for (const entry of entries) {
      const place = posix.join(at, entry.name);
      if (entry.name === '.git' || !(entry.isFile() || entry.isDirectory()) || !keep(place)) continue;
      if (entry.isDirectory()) directories.push(place);
      else if (files.length >= most) return { files, more: true };
      else files.push(place);
    }
    pending.push(...directories.reverse());
  }
  return { files, more: false };
}

async function requireFile(file: FileHandle) {
  const status = await file.stat();
  if (!status.isFile()) throw Object.assign(new Error('it is no plain file'), { code: 'EINVAL' });
  return status;
}

/** One result of a search service: plain text, and an address that was not checked. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The parsed answer of a service. After `failed`, the next service is queried. */
export type SearchReading =
  | { readonly kind: 'results'; readonly results: readonly SearchResult[] }
  | { readonly kind: 'failed'; readonly found: string; readonly restSeconds?: number };

/** A web search service, with its key if it has one. It builds requests and parses answers. Pure. */
export interface SearchBackend {
  readonly name: string;
  /** Sent with GET. The headers go only to that host, even after a redirect. */
  toQuestion(query: string): {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Parses the given bytes and never throws. */
  read(answer: { readonly status: number; readonly body: Uint8Array }): SearchReading;
}

/** What a process can search with. */
export interface SearchAccess {
  /** In query order: if one fails, the next one is used. */
  readonly backends: readonly SearchBackend[];
  /** Values that must never be disclosed. */
  readonly secrets: readonly string[];
  /** Messages to print once, e.g. that a key cannot be used. */
  readonly notices: readonly string[];
}

/** Finds the keys and opens the services, when the first search wants them. */
export type FindSearch = () => Promise<SearchAccess>;

/** A directory whose own size is at most this holds some hundred names. */
const smallDirectoryBytes = 4096;

/**
 * The entries of a directory, with names as bytes, in bounded memory. A small directory is read at once: a `Dir` of
 * Node costs more than its entries, and is garbage that only a collection of the whole heap removes.
 */
export function entriesOf(directory: string | Buffer): Iterable<Dirent<Buffer>> {
  const { size } = statSync(directory);
  if (size > 0 && size <= smallDirectoryBytes)
    return readdirSync(directory, { withFileTypes: true, encoding: 'buffer' });
  return streamed(
    opendirSync(directory as string, { encoding: 'buffer' as BufferEncoding, bufferSize: 512 }),
  );
}

function* streamed(listing: Dir): Generator<Dirent<Buffer>, void, undefined> {
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync())
      yield entry as unknown as Dirent<Buffer>;
  } finally {
    listing.closeSync();
  }
}
