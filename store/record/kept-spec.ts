import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { specFile } from './spec-file.ts';

/** Most octets of a contract (resolutions, Invalid spec). */
const maxSpecBytes = 4 * 1024 * 1024;

/**
 * The contract that a run was started with, out of the run's directory, as its author gave it; `undefined` where none
 * is kept. OBJECT_CORRUPT for what is no file (a link, a pipe, a directory), cannot be read, or is larger than a
 * contract may be: nothing of that is read.
 */
export async function readKeptSpec(directory: string, runId: string): Promise<Buffer | undefined> {
  const path = join(directory, specFile);
  const refused = (why: string, cause?: unknown): WritError =>
    new WritError('OBJECT_CORRUPT', {
      message: `the contract of run \`${runId}\` cannot be read: ${why}`,
      detail: { run_id: runId, path },
      ...(cause === undefined ? {} : { cause }),
    });
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags)
    .catch(absent)
    .catch((cause: unknown) => {
      throw refused('it is no file that can be opened', cause);
    });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat().then((found) => {
      if (found.isFile()) return found;
      throw refused('it is no file');
    });
    if (size > maxSpecBytes) throw refused(`expected at most ${maxSpecBytes} bytes, found ${size}`);
    // As large as it was, however it grows meanwhile.
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** {@link readKeptSpec}, and OBJECT_CORRUPT where none is kept. */
export async function requireKeptSpec(directory: string, runId: string): Promise<Buffer> {
  const bytes = await readKeptSpec(directory, runId);
  if (bytes) return bytes;
  throw new WritError('OBJECT_CORRUPT', {
    message: `the contract of run \`${runId}\` is gone`,
    detail: { run_id: runId, path: join(directory, specFile) },
  });
}
