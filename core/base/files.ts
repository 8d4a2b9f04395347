/* Reads and writes files safely: atomic writes, no symlinks, private permissions. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { chmod, copyFile, lstat, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
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

/** A file as it was read, or why it was not. */
type PlainFile =
  | { readonly bytes: Buffer; readonly status: Stats; readonly fault?: undefined }
  | { readonly bytes?: undefined; readonly status?: Stats; readonly fault: NodeJS.ErrnoException };

/**
 * Reads a regular file of at most `maxBytes`, never through a link, and never waiting for the writer of a pipe. `fault`
 * has the code of the system: ELOOP for a link, EINVAL for another kind, EFBIG for more octets, with the status of what
 * was found. Synchronous: for a small file the thread pool costs ten times the reading.
 */
export function readPlain(path: string, maxBytes: number): PlainFile {
  let file: number | undefined;
  let status: Stats | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    status = fstatSync(file);
    if (!status.isFile()) return { status, fault: refusal('EINVAL', 'it is not a regular file') };
    if (status.size > maxBytes)
      return {
        status,
        fault: refusal('EFBIG', `it has ${status.size} octets, expected at most ${maxBytes}`),
      };
    // It may grow or shrink meanwhile.
    const bytes = Buffer.allocUnsafe(status.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return { bytes: bytes.subarray(0, length), status };
  } catch (fault) {
    return { ...(status && { status }), fault: fault as NodeJS.ErrnoException };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function refusal(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}

const maxBytes = 64 * 1024;

/**
 * Reads a small file that only its owner can change; with `secret`, that only its owner can read. Throws KEY_INSECURE
 * for symlinks, pipes, other owners, loose modes and a directory that others can write to. Returns `undefined` if the
 * file does not exist.
 */
export async function readGuarded(path: string, secret: boolean): Promise<string | undefined> {
  const { bytes, status, fault } = readPlain(path, maxBytes);
  if (fault?.code === 'ENOENT' || fault?.code === 'ENOTDIR') return undefined;
  if (fault?.code === 'ELOOP') throw insecure(path, 'it is a symbolic link');
  if (status === undefined)
    throw new WritError('KEY_INSECURE', {
      message: `\`${path}\` cannot be opened`,
      detail: { path },
      hints: ['set `HOME` or `XDG_CONFIG_HOME` to a directory of your own'],
      cause: fault,
    });
  const reason = whyInsecure(status, secret ? 0o077 : 0o022) ?? whyDirectoryInsecure(statSync(dirname(path)));
  if (reason !== undefined) throw insecure(path, reason);
  if (bytes === undefined) throw insecure(path, fault.message);
  return bytes.toString('utf8');
}

/** Why others could have written a file, or have rights of the bits `forbidden`; `undefined` if they have none. */
export function whyInsecure(status: Stats, forbidden: number): string | undefined {
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

/** Whether a file belongs to another user. */
export function isForeign(status: Stats): boolean {
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
 * `root`, is a symlink or no directory.
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
  const { bytes, fault } = readPlain(path, maxBytes);
  if (fault?.code === 'EINVAL') throw new Error(`\`${path}\` is no file`);
  if (fault?.code === 'EFBIG') throw new Error(`\`${path}\` holds more than ${maxBytes} bytes`);
  return bytes ?? absent(fault);
}
