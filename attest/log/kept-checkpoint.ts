import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';

/** A note has at most 65,536 characters. */
const maxBytes = 256 * 1024;

// Without O_NONBLOCK a pipe would hang us before it can be refused.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The sizes that are kept in the folder of a log, smallest first; none where there is no folder. A link or a file in
 * its place is STATE_CORRUPT: nothing is begun anew because somebody moved what was seen out of the way.
 */
export async function keptSizes(folder: string): Promise<readonly number[]> {
  if (!(await isThere(folder))) return [];
  const names = await readdir(folder).catch(ifAbsent([]));
  return names
    .filter((name) => /^(?:0|[1-9][0-9]{0,15})$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * The checkpoint that is kept in a file named by its size; `undefined` where there is none. Whatever else stands there
 * (a link, a pipe, too many octets, text that is none, one of another log or size) is STATE_CORRUPT.
 */
export async function readKept(
  folder: string,
  size: number,
  origin: string,
): Promise<Checkpoint | undefined> {
  if (!(await isThere(folder))) return undefined;
  const path = join(folder, String(size));
  const source = await readOwn(path, folder);
  if (source === undefined) return undefined;
  try {
    const checkpoint = parseCheckpoint(source, () => true);
    if (checkpoint.origin === origin && checkpoint.size === size) return checkpoint;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) throw spoilt(path, folder, fault.message);
    throw fault;
  }
  throw spoilt(path, folder, 'one of another log or size');
}

/** False where nothing was ever kept. */
async function isThere(folder: string): Promise<boolean> {
  const status = await lstat(folder).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    if (fault.code === 'ENOTDIR') throw spoilt(dirname(folder), dirname(folder), 'no directory');
    throw fault;
  });
  if (status !== undefined && !status.isDirectory()) throw spoilt(folder, folder, 'no directory');
  return status !== undefined;
}

/** Nothing was ever kept; any other reason why it cannot be read is none. */
function ifAbsent<T>(value: T): (fault: NodeJS.ErrnoException) => T {
  return (fault) => {
    if (fault.code === 'ENOENT') return value;
    throw fault;
  };
}

async function readOwn(path: string, folder: string): Promise<string | undefined> {
  const file = await open(path, flags).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    if (['ELOOP', 'ENXIO', 'ENOTDIR'].includes(fault.code ?? ''))
      throw spoilt(path, folder, 'no regular file');
    throw fault;
  });
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    if (!status.isFile()) throw spoilt(path, folder, 'no regular file');
    if (status.size > maxBytes) throw spoilt(path, folder, `${status.size} octets`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** What this user keeps is damaged: that says nothing about any log. */
function spoilt(path: string, folder: string, found: string): WritError {
  const named = path === folder ? basename(path) : join(basename(folder), basename(path));
  return new WritError('STATE_CORRUPT', {
    message: `what was seen of a log cannot be read: expected \`${named}\` in \`trust/checkpoints\` to hold the checkpoint of its log and size, found ${found}; put it back, or remove \`${basename(folder)}\` to forget what was seen`,
    detail: { path, found },
    hints: [`remove it to forget what was seen: \`rm -r ${folder}\``],
  });
}
