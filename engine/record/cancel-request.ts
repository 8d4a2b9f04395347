import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { runDirectory } from '../../store/run-directory.ts';
import { fields, type TypeOf, text } from '../../store/shape.ts';
import type { Repository } from '../../workspace/git/repository.ts';

const shape = fields({ by: text, reason: text });

/** Who wants a run to end, and why. */
type CancelRequest = TypeOf<typeof shape>;

const fileName = 'cancel';
const maxBytes = 64 * 1024;
const lookEveryMs = 250;

/**
 * Requests that the process working on a run cancels it. The file is written atomically; a second request replaces
 * the first. The request has no effect until a process watches for it.
 */
export async function requestCancel(
  repository: Pick<Repository, 'commonDir'>,
  runId: string,
  by: string,
  reason: string,
): Promise<void> {
  const directory = runDirectory(repository, runId);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, `${fileName}.${randomOctets(8).toString('hex')}`);
  try {
    await writeFile(draft, JSON.stringify({ by, reason }), { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, join(directory, fileName));
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Returns the pending cancel request of a run, or `undefined`. Throws OBJECT_CORRUPT for a symlink or an invalid
 * request.
 */
export async function readCancel(directory: string): Promise<CancelRequest | undefined> {
  const path = join(directory, fileName);
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
    throw corrupt(path, fault);
  }
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxBytes) throw corrupt(path);
    const { value } = parseStrictJson(await file.readFile(), {
      code: 'OBJECT_CORRUPT',
      maxBytes,
      maxDepth: 2,
    });
    const problems: string[] = [];
    shape.check(value, '', problems);
    if (problems.length > 0) throw corrupt(path);
    return value as CancelRequest;
  } finally {
    await file.close();
  }
}

/** Removes the cancel request, by any caller: it was handled, or no process is left to handle it. */
export async function withdrawCancel(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
}

/**
 * Calls `onCancel` once when a cancel request exists, including one made before the watch began. Stops with `signal`.
 * It polls, because network file systems lose change events. An invalid request file cancels no run and stays for the
 * next reader.
 */
export async function watchCancel(
  directory: string,
  onCancel: (request: CancelRequest) => void,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  while (!signal.aborted) {
    const request = await readCancel(directory).catch(() => undefined);
    if (request !== undefined && !signal.aborted) return onCancel(request);
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
}

function corrupt(path: string, cause?: unknown): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `\`${path}\` is no request to cancel`,
    detail: { path },
    ...(cause === undefined ? {} : { cause }),
  });
}
