import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cutFromWider } from './cut-tile.ts';
import { maxBundleBytes } from './entry-bundle.ts';
import type { LedgerFileReader } from './tile-reader.ts';

// Without O_NONBLOCK a pipe would hang us before it can be refused.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads ledger files out of a directory, also somebody else's: a link, a pipe or a file too large for a ledger is no
 * file of it. A partial tile that an append has replaced is cut from the wider one.
 */
export function readFrom(directory: string): LedgerFileReader {
  const read: LedgerFileReader = async (path) => {
    const file = await open(join(directory, path), flags).catch((fault: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(fault.code ?? '')) return undefined;
      throw fault;
    });
    if (file === undefined) return undefined;
    try {
      const status = await file.stat();
      if (!status.isFile() || status.size > maxBundleBytes) return undefined;
      return await file.readFile();
    } finally {
      await file.close();
    }
  };
  const list = (folder: string): Promise<readonly string[]> =>
    readdir(join(directory, folder)).catch(() => []);
  return async (path) => (await read(path)) ?? (await cutFromWider(path, read, list));
}
