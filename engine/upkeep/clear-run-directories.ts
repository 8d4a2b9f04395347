import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { listRunDirectories, runDirectory } from '../store/run-directory.ts';
import { acquireRunLock } from '../store/run-lock.ts';
import type { Repository } from '../vcs/repository.ts';
import type { ContentExpiry } from './content-expiry.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import type { StoredRef } from './stored-ref.ts';

/**
 * What is kept of a decided run's directory until its retention is over: who did what, when, and what was asked for.
 */
const kept = ['journal.jsonl', 'spec.json'];

/**
 * Clears the directories of decided runs: at once of everything but the journal and the contract, of these too when the
 * run's retention is over. A run that is not decided in the refs, or has something left to do here, keeps all of it.
 */
export async function clearRunDirectories(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const local = new Set(await listRunDirectories(repository));
  const runs = refs.filter(({ kind, id }) => kind === 'run' && local.has(id));
  const removed: Removed[] = [];
  for (const { ref, id } of runs) {
    const expiry = expiries.get(ref);
    if (expiry === undefined || (await localStateOf(repository, id)) !== 'over') continue;
    const found = await clearOne(runDirectory(repository, id), nowMs >= expiry.lastMs, dryRun);
    if (found) removed.push({ kind: 'run-directory', runId: id, ...found });
  }
  return removed;
}

async function clearOne(
  directory: string,
  whole: boolean,
  dryRun: boolean,
): Promise<Pick<Removed, 'where' | 'bytes'> | undefined> {
  const names = (await readdir(directory)).filter((name) => !isLock(name) && (whole || !kept.includes(name)));
  if (names.length === 0 && !whole) return undefined;
  let bytes = 0;
  for (const name of names) bytes += await sizeOf(join(directory, name));
  if (dryRun) return { where: directory, bytes };
  // Held while it is cleared: nobody may take the run up in between.
  const lock = await acquireRunLock(directory).catch((fault: unknown) => {
    if (isWritError(fault, 'RUN_BUSY')) return undefined;
    throw fault;
  });
  if (lock === undefined) return undefined;
  try {
    for (const name of names) await rm(join(directory, name), { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  if (whole) await rm(directory, { recursive: true, force: true });
  return { where: directory, bytes };
}

function isLock(name: string): boolean {
  return name === 'lock' || name.startsWith('lock.');
}

/** Bytes of everything below a path; links are not followed. */
export async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  for (const name of await readdir(path).catch(() => [])) bytes += await sizeOf(join(path, name));
  return bytes;
}
