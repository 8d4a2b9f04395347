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
 * Asks the process that works on a run to end it. The file appears whole or not at all; a second request replaces the
 * first. Nothing happens until somebody watches.
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
 * The request that stands for a run; `undefined` where there is none. A link, or anything that is no request, is
 * OBJECT_CORRUPT.
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

/** Takes a request back, whoever made it: it was met, or nobody is there to meet it. */
export async function withdrawCancel(directory: string): Promise<void> {
  await rm(join(directory, fileName), { force: true });
}

/**
 * Calls `onCancel` once, when a request stands for the run: one that was there before, too. Ends with `signal`. It
 * looks rather than being told: file system events get lost on network file systems. A file that is no request is left
 * to whoever reads it next and cancels nothing.
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
