/* Creates temporary directories for writes, and removes those of killed processes. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../core/base/files.ts';
import { randomOctets } from '../core/base/ids.ts';
import { type Repository, stateDirectory } from '../workspace/git/repository.ts';
import { fromNamePart, isProvenDead, ownIdentity, toNamePart } from '../workspace/process/process-lock.ts';

const prefix = 'store-';

/** Temporary files are in the file system of the repository: `<git-common-dir>/writ/tmp`. */
export function temporaryRoot(repo: Pick<Repository, 'commonDir'>): string {
  return stateDirectory(repo, 'tmp');
}

/**
 * A new private directory for one write. Its name identifies the process, so a kill never leaves a directory of
 * unknown origin. Directories of killed processes are removed first.
 */
export async function makeTemporary(repo: Pick<Repository, 'commonDir'>): Promise<string> {
  await removeLitter(repo);
  const root = temporaryRoot(repo);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const maker = toNamePart(await ownIdentity());
  const dir = join(root, `${prefix}${maker}+${randomOctets(6).toString('hex')}`);
  await mkdir(dir, { mode: 0o700 });
  return dir;
}

/** Runs `act` with a directory of `makeTemporary`, which is removed afterwards. */
export async function inTemporary<T>(
  repo: Pick<Repository, 'commonDir'>,
  act: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await makeTemporary(repo);
  try {
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Removes the directories of processes that are proven dead; returns how many. */
export async function removeLitter(repo: Pick<Repository, 'commonDir'>): Promise<number> {
  const root = temporaryRoot(repo);
  let removed = 0;
  for (const name of (await readdir(root).catch(absent)) ?? []) {
    const maker = name.startsWith(prefix) ? fromNamePart(name.slice(prefix.length)) : undefined;
    if (maker === undefined || !(await isProvenDead(maker))) continue;
    await rm(join(root, name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}
