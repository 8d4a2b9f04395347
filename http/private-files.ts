/* Files that only the user reads, among them those by which clients find a server. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, WritError } from '../core/base/errors.ts';
import { absent, isDraft, isForeign, readPlain, whyInsecure, writeDurably } from '../core/base/files.ts';
import { randomOctets } from '../core/base/ids.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { parseLoopbackAddress } from './guard-request.ts';

/** Published data of a running instance; never contains a secret. */
export interface Discovery {
  readonly version: 1;
  readonly mode: string;
  readonly pid: number;
  /** `http://127.0.0.1:1234`, a literal loopback address, without a final slash. */
  readonly baseUrl: string;
  /** Where MCP is served: a loopback address and a path. */
  readonly mcpUrl?: string;
  readonly workingDir: string;
  /** The thread of a session. */
  readonly threadId?: string;
  /** RFC 3339. */
  readonly startedAt: string;
}

/** The file's text: one JSON object, final line feed. */
export function formatDiscovery(discovery: Discovery): string {
  return `${JSON.stringify(discovery, null, 2)}\n`;
}

/** Throws PRIVATE_FILE_UNSAFE if the text is not a discovery file, or names an address outside the loopback. */
export function parseDiscovery(text: string, path: string): Discovery {
  try {
    const { value } = parseStrictJson(Buffer.from(text), { code: 'INVALID_BODY' });
    const { version, mode, pid, baseUrl, mcpUrl, workingDir, threadId, startedAt } = value as Partial<
      Record<keyof Discovery, unknown>
    >;
    if (
      version === 1 &&
      typeof mode === 'string' &&
      typeof pid === 'number' &&
      Number.isSafeInteger(pid) &&
      pid > 0 &&
      typeof baseUrl === 'string' &&
      isLoopbackBase(baseUrl) &&
      (mcpUrl === undefined || (typeof mcpUrl === 'string' && isLoopbackUrl(mcpUrl))) &&
      (threadId === undefined || typeof threadId === 'string') &&
      typeof workingDir === 'string' &&
      typeof startedAt === 'string'
    )
      return {
        version,
        mode,
        pid,
        baseUrl,
        ...(mcpUrl === undefined ? {} : { mcpUrl }),
        workingDir,
        ...(threadId === undefined ? {} : { threadId }),
        startedAt,
      };
  } catch (fault) {
    if (!isWritError(fault) && !(fault instanceof TypeError)) throw fault;
  }
  throw new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is no discovery file of version 1 with a loopback address`,
    detail: { path },
    hints: ['stop the program that wrote it, then start it again: it writes a new file'],
  });
}

/** True for a literal loopback address with a port and no path. */
export function isLoopbackBase(text: string): boolean {
  const [, plain, bracketed, port] =
    /^http:\/\/(?:([0-9.]{7,15})|\[([0-9a-f:]{2,39})\]):([0-9]{1,5})$/.exec(text) ?? [];
  const address = plain ?? bracketed;
  return address !== undefined && parseLoopbackAddress(address) !== undefined && Number(port) <= 65535;
}

function isLoopbackUrl(text: string): boolean {
  return isLoopbackBase(/^(http:\/\/[^/]*)(?:\/[\w-]+)*$/.exec(text)?.[1] ?? '');
}

/** A new secret of 32 random octets, as 43 characters of base64url. */
export function makeToken(): string {
  return randomOctets(32).toString('base64url');
}

/** Constant-time comparison; the time does not depend on content or length. */
export function matchesToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What is published in such a file is small; whatever is larger is not ours. */
const usualBytes = 16 * 1024;

/**
 * Makes `root/segments…` where it is missing and answers its path. Every segment is a directory of this user, no
 * symlink (a repository can bring one that leads anywhere); the last one only we can enter. PRIVATE_FILE_UNSAFE.
 */
export async function openPrivateDirectory(root: string, segments: readonly string[]): Promise<string> {
  let path = root;
  for (const [at, segment] of segments.entries()) {
    path = join(path, segment);
    const isLast = at === segments.length - 1;
    await mkdir(path, { mode: isLast ? 0o700 : 0o755 }).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code !== 'EEXIST') throw cannot(path, 'be made', fault);
    });
    requireOwnDirectory(path, await lstat(path));
    if (isLast) await restrict(path);
  }
  return path;
}

/**
 * The text of a file that only this user may read or change; `undefined` where there is none. A symlink, a pipe,
 * another owner, a looser mode, more than `maxBytes` (16 KiB): PRIVATE_FILE_UNSAFE.
 */
export async function readPrivateFile(path: string, maxBytes = usualBytes): Promise<string | undefined> {
  const { bytes, status, fault } = readPlain(path, maxBytes);
  if (fault?.code === 'ENOENT' || fault?.code === 'ENOTDIR') return undefined;
  if (fault?.code === 'ELOOP') throw unsafe(path, 'it is a symbolic link');
  if (fault && !status) throw cannot(path, 'be opened', fault);
  const reason = status && (whyInsecure(status, 0o077) ?? fault?.message);
  if (reason !== undefined) throw unsafe(path, reason);
  return bytes?.toString('utf8');
}

/** Writes the file atomically, mode 0600, durable. An existing file is replaced and never written through. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await writeDurably(path, text, 0o600).catch((fault: NodeJS.ErrnoException) => {
    throw cannot(path, 'be written', fault);
  });
}

/**
 * Creates the file, mode 0600, durable. Throws PRIVATE_FILE_UNSAFE if the path already exists, even as a link. For a
 * path that a person chose: it leaves no draft beside it.
 */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  try {
    await using file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } catch (fault) {
    throw cannot(path, 'be made', fault as NodeJS.ErrnoException);
  }
}

/**
 * Removes the drafts of killed writers from the directory, because one may contain a secret. Only for the single
 * process that writes there.
 */
export async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory))
    if (isDraft(name)) await rm(join(directory, name), { force: true });
}

/** Removes the file while it is what we wrote; another's, or none, is left as it is. */
export async function removeOwnFile(path: string, text: string): Promise<void> {
  const found = await readPrivateFile(path).catch(() => undefined);
  if (found === text) await rm(path, { force: true });
}

async function restrict(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    absent,
  );
  if (directory === undefined) throw unsafe(path, 'it vanished');
  try {
    if (((await directory.stat()).mode & 0o077) !== 0) await directory.chmod(0o700);
  } finally {
    await directory.close();
  }
}

function requireOwnDirectory(path: string, status: Stats): void {
  if (!status.isDirectory())
    throw unsafe(path, status.isSymbolicLink() ? 'it is a symbolic link' : 'it is no directory');
  if (isForeign(status)) throw unsafe(path, `it belongs to user ${status.uid}`);
}

function unsafe(path: string, reason: string): WritError {
  return new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: [`look at the file, then remove it: \`writ\` needs it only while it runs`],
  });
}

function cannot(path: string, what: string, cause: NodeJS.ErrnoException): WritError {
  return new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` cannot ${what}: ${cause.code ?? cause.message}`,
    detail: { path, reason: cause.code ?? cause.message },
    hints: ['make its directory writable for you'],
    cause,
  });
}

/**
 * Keeps the directory, and this file in it, out of what git calls untracked; an existing `.gitignore` there is left as
 * it is.
 */
export async function ignoreDirectory(directory: string): Promise<void> {
  const path = join(directory, '.gitignore');
  // Whole or not at all: one that a kill left empty would be left as it is ever after.
  if ((await lstat(path).catch(absent)) === undefined) await writeDurably(path, '*\n');
}
