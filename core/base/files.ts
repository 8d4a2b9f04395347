/* Reads and writes files safely: atomic writes, no symlinks, private permissions. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from './errors.ts';
import { randomOctets } from './ids.ts';

/** Content of a new file: text, bytes, or the content of another file. */
type FileContent = string | Uint8Array | { readonly copyOf: string };

/**
 * Writes a file atomically. The file is durable when the promise resolves. The temporary file in the same directory
 * is named `tmp_writ_…`. A killed process leaves it behind, and readers skip it.
 */
export async function writeDurably(path: string, content: FileContent, mode = 0o600): Promise<void> {
  const draft = join(dirname(path), `tmp_writ_${randomOctets(8).toString('hex')}`);
  try {
    if (typeof content === 'string' || content instanceof Uint8Array)
      await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    else await copyFile(content.copyOf, draft);
    await syncPath(draft);
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true });
    throw fault;
  }
  await syncPath(dirname(path));
}

/** True for the name of a draft of `writeDurably`. */
export function isDraft(name: string): boolean {
  return name.startsWith('tmp_writ_');
}

/**
 * For the catch of a file operation: returns `undefined` if the file does not exist (ENOENT), and rethrows every
 * other error.
 */
export function absent(fault: unknown): undefined {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
  throw fault;
}

/** Flushes a file or a directory to disk. A new file survives a power cut only if its directory is flushed, too. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

const maxBytes = 64 * 1024;

/**
 * Reads a small file that only its owner can change; with `secret`, that only its owner can read. Throws KEY_INSECURE
 * for symlinks, pipes, other owners, loose modes and a directory that others can write to. Returns `undefined` if the
 * file does not exist.
 */
export async function readGuarded(path: string, secret: boolean): Promise<string | undefined> {
  // Without O_NONBLOCK, opening a pipe would block before it can be refused.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return undefined;
    if (fault.code === 'ELOOP') throw insecure(path, 'it is a symbolic link');
    throw new WritError('KEY_INSECURE', {
      message: `\`${path}\` cannot be opened`,
      detail: { path },
      cause: fault,
    });
  });
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    const reason =
      whyInsecure(status, secret ? 0o077 : 0o022) ?? whyDirectoryInsecure(await stat(dirname(path)));
    if (reason !== undefined) throw insecure(path, reason);
    if (status.size > maxBytes)
      throw insecure(path, `it has ${status.size} octets, expected at most ${maxBytes}`);
    const bytes = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(bytes, 0, maxBytes, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function whyInsecure(status: Stats, forbidden: number): string | undefined {
  if (!status.isFile()) return 'it is not a regular file';
  if (isForeign(status)) return `it belongs to user ${status.uid}`;
  if ((status.mode & forbidden) === 0) return undefined;
  return `others have rights to it (mode ${(status.mode & 0o777).toString(8)})`;
}

function whyDirectoryInsecure(status: Stats): string | undefined {
  const sticky = (status.mode & 0o1000) !== 0;
  if ((status.mode & 0o022) !== 0 && !sticky) return 'others may write to its directory';
  return isForeign(status) && status.uid !== 0 ? `its directory belongs to user ${status.uid}` : undefined;
}

function isForeign(status: Stats): boolean {
  return process.geteuid !== undefined && status.uid !== process.geteuid();
}

function insecure(path: string, reason: string): WritError {
  return new WritError('KEY_INSECURE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: [`make it a regular file of your own that no other user can reach: \`chmod 600 ${path}\``],
  });
}

/** Path of a file of the store: below `root`, with one name per part. */
export interface Place {
  readonly root: string;
  readonly parts: readonly string[];
}

/** Makes the directories of a place, private to the user. Throws if one of them is a symlink or no directory. */
export async function makeDirectories({ root, parts }: Place): Promise<string> {
  let path = root;
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const part of ['.', ...parts]) {
    path = join(path, part);
    await mkdir(path, { mode: 0o700 }).catch((fault: unknown) => {
      if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
    });
    if (!(await lstat(path)).isDirectory()) throw new Error(`\`${path}\` is no directory`);
  }
  return path;
}

/**
 * Returns the path of a directory, or `undefined` if it does not exist. Throws if it, or a directory above it up to
 * `root`, is a symlink or no directory. Synchronous, like `readPlainFile`: for ten thousand small files the thread
 * pool costs ten times the reading.
 */
export function findDirectory({ root, parts }: Place): string | undefined {
  let path = root;
  for (const part of ['.', ...parts]) {
    path = join(path, part);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (!found.isDirectory()) throw new Error(`\`${path}\` is no directory`);
  }
  return path;
}

/**
 * Returns the bytes of a file, or `undefined` if it does not exist. Throws if it, or a directory above it up to
 * `root`, is a symlink or of another kind, and if it has more than `maxBytes`.
 */
export function readPlainFile({ root, parts }: Place, maxBytes: number): Buffer | undefined {
  const directory = findDirectory({ root, parts: parts.slice(0, -1) });
  if (directory === undefined) return undefined;
  const path = join(directory, parts.at(-1) ?? '');
  const file = openPlain(path);
  if (file === undefined) return undefined;
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error(`\`${path}\` is no file`);
    if (found.size > maxBytes) throw new Error(`\`${path}\` holds more than ${maxBytes} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function openPlain(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (fault) {
    return absent(fault);
  }
}
