import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './durable-file.ts';

/** Where a file of the store lies: below `root`, each part one name. */
export interface Place {
  readonly root: string;
  readonly parts: readonly string[];
}

/** Makes the directories of a place, private to the user; throws where one of them is a symlink or no directory. */
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
 * The path of a directory; `undefined` where it does not exist. Throws where it, or one on the way to it, is a symlink
 * or no directory. Synchronous like `readPlainFile`: for small files, ten thousand at a time, the thread pool costs ten
 * times the reading.
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
 * Bytes of a file; `undefined` where it does not exist. Throws where it, or a directory on the way from `root` to it,
 * is a symlink or something else, and where it holds more than `maxBytes`.
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
