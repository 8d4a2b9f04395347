/* Digests the content of a directory, such as `node_modules`, in a form that does not depend on the machine. */
import { createHash, type Hash } from 'node:crypto';
import { constants, lstatSync, readdirSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isInside } from '../process/find-program.ts';

export interface DirectoryDigestOptions {
  /** Symbolic links must stay inside this directory, except absolute links to one executable file each. */
  readonly within: string;
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Digests of files from an earlier call; absent: every file is read. */
  readonly kept?: KeptDigests;
  readonly signal?: AbortSignal;
}

/** Digests of files that have not changed since they were read. */
export interface KeptDigests {
  /** `state`: device, inode, size, times and mode, as `stat` gives them. */
  find(path: string, state: string): string | undefined;
  /** Called for every file; `changedAtMs`: its change time, which no program can set. */
  keep(path: string, state: string, changedAtMs: number, sha256: string): void;
}

/** The digest, or why there is none. */
export type DirectoryDigest =
  | {
      readonly sha256: string;
      readonly entries: number;
      readonly bytes: number;
      /** Absolute links to programs elsewhere, such as `bin/python` of a virtual environment. */
      readonly programs: readonly ProgramLink[];
    }
  | { readonly fault: string };

export interface ProgramLink {
  readonly path: string;
  readonly target: string;
}

const maxPrograms = 64;
const parallelFiles = 16;
const chunkBytes = 256 * 1024;

/**
 * SHA-256 over the sorted listing of a directory: per entry `<mode> <sha256 of content or link target> <path>` and a
 * NUL, with modes as git writes them (directories `040000` and `-`). Links are recorded, never followed. An absolute
 * link to an executable file outside has a second entry, `program <sha256 of the file>`. Anything else is a fault.
 */
export async function digestDirectory(
  root: string,
  options: DirectoryDigestOptions,
): Promise<DirectoryDigest> {
  const within = await realpath(options.within);
  const files: { path: string; executable: boolean; state: string; changedAtMs: number }[] = [];
  const lines: string[] = [];
  const programs: ProgramLink[] = [];
  let bytes = 0;
  const pending = [''];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    options.signal?.throwIfAborted();
    // One call of the thread pool for each of many thousand files would cost more than all that they ask for.
    await setImmediate();
    for (const raw of readdirSync(join(root, directory), { encoding: 'buffer' })) {
      const name = raw.toString('utf8');
      if (!Buffer.from(name, 'utf8').equals(raw))
        return { fault: `a file name under \`${directory}\` is not UTF-8` };
      const path = directory === '' ? name : `${directory}/${name}`;
      const full = join(root, path);
      const status = lstatSync(full, { bigint: true });
      if (files.length + lines.length >= options.maxEntries)
        return { fault: `more than ${options.maxEntries} entries` };
      if (status.isDirectory()) {
        lines.push(`040000 - ${path}\0`);
        pending.push(path);
      } else if (status.isFile()) {
        bytes += Number(status.size);
        if (bytes > options.maxBytes) return { fault: `more than ${options.maxBytes} bytes` };
        const { dev, ino, size, mtimeNs, ctimeNs, mode } = status;
        const state = [dev, ino, size, mtimeNs, ctimeNs, mode].join(' ');
        files.push({
          path,
          executable: (mode & 0o111n) !== 0n,
          state,
          changedAtMs: Number(ctimeNs / 1_000_000n),
        });
      } else if (status.isSymbolicLink()) {
        const target = await readlink(full);
        if ((await leaves(full, target, within)) && !(await leadsToEntry(root, full, target))) {
          const size = await sizeOfProgram(target);
          if (size === undefined || programs.length >= maxPrograms)
            return { fault: `the link \`${path}\` leads outside` };
          bytes += size;
          if (bytes > options.maxBytes) return { fault: `more than ${options.maxBytes} bytes` };
          programs.push({ path, target });
        }
        lines.push(`120000 ${sha256Hex(target)} ${path}\0`);
      } else return { fault: `\`${path}\` is neither a file, a directory nor a link` };
    }
  }

  let next = 0;
  const hashLane = async (): Promise<void> => {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let file = files[next++]; file !== undefined; file = files[next++]) {
      options.signal?.throwIfAborted();
      const { path, state, changedAtMs } = file;
      const sha256 = options.kept?.find(path, state) ?? (await hashFile(join(root, path), chunk));
      options.kept?.keep(path, state, changedAtMs, sha256);
      lines.push(`${file.executable ? '100755' : '100644'} ${sha256} ${file.path}\0`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelFiles, files.length) }, hashLane));
  for (const { path, target } of programs) {
    const sha256 = await hashFile(await realpath(target), Buffer.allocUnsafe(chunkBytes));
    lines.push(`program ${sha256} ${path}\0`);
  }

  const hash = createHash('sha256');
  const pathOf = (line: string): string => line.slice(line.indexOf(' ', 7) + 1);
  const keyed = lines.map((line) => ({ path: pathOf(line), line }));
  keyed.sort((left, right) => (left.path === right.path ? 0 : left.path < right.path ? -1 : 1));
  for (const { line } of keyed) hash.update(line);
  return { sha256: hash.digest('hex'), entries: keyed.length - programs.length, bytes, programs };
}

async function leaves(link: string, target: string, within: string): Promise<boolean> {
  if (target.startsWith('/')) return true;
  const parent = await realpath(dirname(link));
  try {
    return !isInside(within, await realpath(link));
  } catch {
    // Dangling or circular: it has no readable target, so its text decides.
    return !isInside(within, resolve(parent, target));
  }
}

/**
 * True if a relative link leads to another link of the same directory, which has its own entry (`python -> python3`).
 */
async function leadsToEntry(root: string, link: string, target: string): Promise<boolean> {
  if (target.startsWith('/')) return false;
  const next = resolve(await realpath(dirname(link)), target);
  const above = await realpath(dirname(next)).catch(() => undefined);
  if (above === undefined || !isInside(await realpath(root), above)) return false;
  const status = await lstat(join(above, basename(next))).catch(() => undefined);
  return status?.isSymbolicLink() === true;
}

/**
 * Size of the executable file that an absolute path leads to; `undefined` for anything else. A file that is not
 * executable is never read: a link must not turn a private key into a published digest.
 */
async function sizeOfProgram(target: string): Promise<number | undefined> {
  if (!target.startsWith('/')) return undefined;
  const status = await stat(target).catch(() => undefined);
  return status?.isFile() && (status.mode & 0o111) !== 0 ? status.size : undefined;
}

async function hashFile(path: string, chunk: Buffer): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await hashOpenFile(file, createHash('sha256'), chunk);
  } finally {
    await file.close();
  }
}

/** Adds the rest of an open file to `hash` and returns the digest in hex. */
export async function hashOpenFile(file: FileHandle, hash: Hash, chunk: Buffer): Promise<string> {
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, bytesRead));
  }
}
