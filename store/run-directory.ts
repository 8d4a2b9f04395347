/* The directory of a run's local files: journal, lock and spec. */
import { accessSync, constants, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WritError } from '../core/base/errors.ts';
import { readPlain } from '../core/base/files.ts';
import { encodeId } from '../workspace/git/ref-name.ts';
import { type Repository, runsDirectory } from '../workspace/git/repository.ts';
import {
  acquireProcessLock,
  isProcessLockHeld,
  type ProcessLock,
} from '../workspace/process/process-lock.ts';

/** `<git-common-dir>/writ/runs/<run>`. */
export function runDirectory(repo: Pick<Repository, 'commonDir'>, runId: string): string {
  return join(runsDirectory(repo), encodeId(runId));
}

export const journalFile = 'journal.jsonl';

export function journalPath(repo: Pick<Repository, 'commonDir'>, runId: string): string {
  return join(runDirectory(repo, runId), journalFile);
}

/** Encoded run ids, sorted; none if no run ever started here. */
export async function listRunDirectories(repo: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  try {
    const runs = runsDirectory(repo);
    const entries = readdirSync(runs, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isReadable(join(runs, entry.name)))
      .map(({ name }) => name)
      .sort();
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return [];
    throw fault;
  }
}

/** False for what another user, root for example, made here and keeps private. */
function isReadable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Held while a process works on the run. OBJECT_CORRUPT if a link is in its place. RUN_BUSY (detail: pid, host) if
 * another process holds it.
 */
export async function acquireRunLock(directory: string): Promise<ProcessLock> {
  const path = join(directory, 'lock');
  await requireOwnPlace(directory, ['lock']);
  return acquireProcessLock(path, {
    busy: (holder) =>
      new WritError('RUN_BUSY', {
        message:
          holder === undefined
            ? `the lock \`${path}\` is held`
            : `process ${holder.pid} on \`${holder.host}\` already works on this run`,
        detail: holder === undefined ? { path } : { path, pid: holder.pid, host: holder.host },
      }),
  });
}

/** True while a process works on a run; the lock of a killed process does not count. */
export async function isRunHeld(directory: string): Promise<boolean> {
  return isProcessLockHeld(join(directory, 'lock'));
}

/**
 * OBJECT_CORRUPT if a link, or anything else, is in the place of a directory or of one of its files: the caller would
 * lock, read or write elsewhere, or wait for a pipe. A missing directory is accepted.
 */
export async function requireOwnPlace(directory: string, files: readonly string[]): Promise<void> {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw foreign(directory, 'a directory of its own');
  for (const name of files) {
    const path = join(directory, name);
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (file !== undefined && !file.isFile()) throw foreign(path, 'a file of its own');
  }
}

function foreign(path: string, what: string): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `expected \`${path}\` to be ${what}: it is a link to another place`,
    detail: { path },
    hints: ['look at what is in that place, then move it away'],
  });
}

const maxSpecBytes = 4 * 1024 * 1024;

/**
 * The spec that a run was started with, as its author gave it; `undefined` if none is kept. OBJECT_CORRUPT for
 * anything but a readable file of at most the size of a spec.
 */
export async function readKeptSpec(directory: string, runId: string): Promise<Buffer | undefined> {
  const path = join(directory, specFile);
  const refused = (why: string, cause?: unknown): WritError =>
    new WritError('OBJECT_CORRUPT', {
      message: `the spec of run \`${runId}\` cannot be read: ${why}`,
      detail: { run_id: runId, path },
      ...(cause === undefined ? {} : { cause }),
    });
  const { bytes, status, fault } = readPlain(path, maxSpecBytes);
  if (bytes !== undefined || fault.code === 'ENOENT') return bytes;
  if (status === undefined) throw refused('it is no file that can be opened', fault);
  if (!status.isFile()) throw refused('it is no file');
  throw refused(`expected at most ${maxSpecBytes} bytes, found ${status.size}`);
}

/** `readKeptSpec`, and OBJECT_CORRUPT if none is kept. */
export async function requireKeptSpec(directory: string, runId: string): Promise<Buffer> {
  const bytes = await readKeptSpec(directory, runId);
  if (bytes) return bytes;
  throw new WritError('OBJECT_CORRUPT', {
    message: `the spec of run \`${runId}\` is gone`,
    detail: { run_id: runId, path: join(directory, specFile) },
  });
}

/** In a run's directory: the spec, as its author gave it. */
export const specFile = 'spec.json';
