/* Removes what killed runs left behind. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import { readJournal } from '../../store/parse-journal.ts';
import {
  acquireRunLock,
  isRunHeld,
  journalPath,
  listRunDirectories,
  runDirectory,
} from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { removeWorkspace } from '../../workspace/git/workspace.ts';

/** File in a private root: the common git directory of the repository that the run belongs to. */
export const ownerFile = 'repository';

/** A run that has just been begun has no journal for an instant. */
const unbegunAfterMs = 10 * 60_000;
const maxOwnerBytes = 16_384;

type Place = Pick<Repository, 'commonDir'>;

/**
 * Removes leftovers of killed runs of this repository: run directories without a journal, and private roots
 * (`writ-run-<run>` below `temporary`) of runs that ended or are gone. Removes only real directories of this user
 * that no other user can enter. Keeps runs that a process holds, that can be resumed, or that belong to another
 * repository. Returns the removed paths.
 */
export async function removeStaleRunFiles(
  repository: Place,
  clock: Clock,
  temporary: string = tmpdir(),
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const runId of await listRunDirectories(repository)) {
    await removeStaleLock(repository, runId);
    if (!(await isUnbegun(repository, runId, clock))) continue;
    if (await removeUnbegun(repository, runId)) removed.push(runDirectory(repository, runId));
  }
  for (const name of await readdir(temporary).catch(() => [])) {
    const runId = /^writ-run-([0-9a-f-]{36})$/.exec(name)?.[1];
    const path = join(temporary, name);
    if (runId === undefined || !(await isOwnDirectory(path))) continue;
    if (!(await isOver(repository, runId, path))) continue;
    await removeWorkspace(path);
    removed.push(path);
  }
  return removed;
}

/**
 * The next process that locks a run removes a killed process's stale lock. A run that has ended has no next process,
 * so it is removed here.
 */
async function removeStaleLock(repository: Place, runId: string): Promise<void> {
  const directory = runDirectory(repository, runId);
  const exists = await lstat(join(directory, 'lock')).then(
    () => true,
    () => false,
  );
  if (!exists || (await isRunHeld(directory))) return;
  const lock = await acquireRunLock(directory).catch(ignoreBusy);
  await lock?.release();
}

function ignoreBusy(fault: unknown): undefined {
  if (!isWritError(fault, 'RUN_BUSY')) throw fault;
}

/** Checks only directories old enough that the process that created one must already hold its lock. */
async function isUnbegun(repository: Place, runId: string, clock: Clock): Promise<boolean> {
  const bornMs = uuidTimeMs(runId);
  if (bornMs === undefined || clock.now() - bornMs < unbegunAfterMs) return false;
  return (await recordTypes(repository, runId)).length === 0;
}

async function removeUnbegun(repository: Place, runId: string): Promise<boolean> {
  const directory = runDirectory(repository, runId);
  if ((await acquireRunLock(directory).catch(ignoreBusy)) === undefined) return false;
  await rm(directory, { recursive: true, force: true });
  return true;
}

async function isOver(repository: Place, runId: string, path: string): Promise<boolean> {
  const directory = runDirectory(repository, runId);
  const isHere = await lstat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  // Of a draft, which a process that looks around for it holds by a lock in the root itself.
  if (!isHere) return (await readOwner(path)) === repository.commonDir && !(await isRunHeld(path));
  if (await isRunHeld(directory)) return false;
  return (await recordTypes(repository, runId)).includes('run-finished');
}

/** A damaged journal is somebody's evidence: it is neither unbegun nor finished. */
async function recordTypes(repository: Place, runId: string): Promise<readonly string[]> {
  try {
    return (await readJournal(journalPath(repository, runId))).records.map(({ type }) => type);
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return ['damaged'];
    throw fault;
  }
}

async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory() || (found.mode & 0o077) !== 0) return false;
  return process.getuid === undefined || found.uid === process.getuid();
}

function readOwner(path: string): string | undefined {
  return readPlain(join(path, ownerFile), maxOwnerBytes).bytes?.toString('utf8').replace(/\n$/, '');
}
