import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sha256Hex } from '../../../../core/base/digest.ts';
import { isInside } from '../../../tool/inside.ts';
import { hashOpenFile } from '../../../vcs/hash-open-file.ts';

export interface DirectoryDigestOptions {
  /** Symbolic links must stay inside this directory. */
  readonly within: string;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** What stands in a directory, or why it cannot be described completely. */
export type DirectoryDigest =
  | { readonly sha256: string; readonly entries: number; readonly bytes: number }
  | { readonly fault: string };

const parallelFiles = 16;
const chunkBytes = 256 * 1024;

/**
 * SHA-256 over the sorted listing of a directory: per entry `<mode> <sha256 of content or link target> <path>` and a
 * NUL, mode as git writes it (directories `040000` and `-`). Links are recorded, never followed; anything but files,
 * directories and links that stay inside is a fault.
 */
export async function digestDirectory(
  root: string,
  options: DirectoryDigestOptions,
): Promise<DirectoryDigest> {
  const within = await realpath(options.within);
  const files: { path: string; executable: boolean }[] = [];
  const lines: string[] = [];
  let bytes = 0;
  const pending = [''];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    options.signal?.throwIfAborted();
    for (const raw of await readdir(join(root, directory), { encoding: 'buffer' })) {
      const name = raw.toString('utf8');
      if (!Buffer.from(name, 'utf8').equals(raw))
        return { fault: `a file name under \`${directory}\` is not UTF-8` };
      const path = directory === '' ? name : `${directory}/${name}`;
      const full = join(root, path);
      const status = await lstat(full);
      if (files.length + lines.length >= options.maxEntries)
        return { fault: `more than ${options.maxEntries} entries` };
      if (status.isDirectory()) {
        lines.push(`040000 - ${path}\0`);
        pending.push(path);
      } else if (status.isFile()) {
        bytes += status.size;
        if (bytes > options.maxBytes) return { fault: `more than ${options.maxBytes} bytes` };
        files.push({ path, executable: (status.mode & 0o111) !== 0 });
      } else if (status.isSymbolicLink()) {
        const target = await readlink(full);
        if (await leaves(full, target, within)) return { fault: `the link \`${path}\` leads outside` };
        lines.push(`120000 ${sha256Hex(target)} ${path}\0`);
      } else return { fault: `\`${path}\` is neither a file, a directory nor a link` };
    }
  }

  let next = 0;
  const hashLane = async (): Promise<void> => {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let file = files[next++]; file !== undefined; file = files[next++]) {
      options.signal?.throwIfAborted();
      const sha256 = await hashFile(join(root, file.path), chunk);
      lines.push(`${file.executable ? '100755' : '100644'} ${sha256} ${file.path}\0`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelFiles, files.length) }, hashLane));

  const hash = createHash('sha256');
  const pathOf = (line: string): string => line.slice(line.indexOf(' ', 7) + 1);
  const keyed = lines.map((line) => ({ path: pathOf(line), line }));
  keyed.sort((left, right) => (left.path < right.path ? -1 : 1));
  for (const { line } of keyed) hash.update(line);
  return { sha256: hash.digest('hex'), entries: keyed.length, bytes };
}

async function leaves(link: string, target: string, within: string): Promise<boolean> {
  if (target.startsWith('/')) return true;
  const parent = await realpath(dirname(link));
  try {
    return !isInside(within, await realpath(link));
  } catch {
    // Dangling or circular: nothing to read behind it, so its text decides.
    return !isInside(within, resolve(parent, target));
  }
}

async function hashFile(path: string, chunk: Buffer): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await hashOpenFile(file, createHash('sha256'), chunk);
  } finally {
    await file.close();
  }
}
