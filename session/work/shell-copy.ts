/** The copy of the working tree for the user's commands. */
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { requireOwnPlace } from '../../store/run-directory.ts';
import { type CopiedTree, copyWorkTree } from '../../workspace/git/copy-work-tree.ts';
import { removeTree } from '../../workspace/git/remove-tree.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import { listThreadIds, threadDirectory } from '../thread/open-thread.ts';

/**
 * The copy of the work tree that commands of one session run on, one after the other: what the next one needs of it is
 * not copied again. One that was not said to be kept goes, and the last one with the session.
 */
export interface KeptCopy extends AsyncDisposable {
  /** A directory of this session alone. */
  readonly place: string;
  /** The work tree as it is now, and nothing of what was left there; an empty directory for reports. */
  renew(
    repository: Repository,
    signal: AbortSignal,
  ): Promise<{ readonly workspace: string; readonly reports: string; readonly copied: CopiedTree }>;
  /** The command has ended and cannot write any more. */
  keep(copied: CopiedTree): void;
  /** Removes everything but the kept copy. */
  tidy(): Promise<void>;
}

const copyName = 'workspace';

export function keepCopy(place: string): KeptCopy {
  let last: CopiedTree | undefined;
  return {
    place,
    async renew(repository, signal) {
      const known = last;
      last = undefined;
      if (known === undefined) await removeTree(place);
      await mkdir(place, { recursive: true, mode: 0o700 });
      const [workspace, reports] = [join(place, copyName), join(place, 'reports')];
      for (const directory of [workspace, reports]) await mkdir(directory, { recursive: true });
      const how = known === undefined ? {} : { last: known };
      return { workspace, reports, copied: await copyWorkTree(repository, workspace, signal, how) };
    },
    keep(copied) {
      last = copied;
    },
    async tidy() {
      if (last === undefined) return removeTree(place);
      for (const name of await readdir(place)) if (name !== copyName) await removeTree(join(place, name));
    },
    [Symbol.asyncDispose]: () => removeTree(place),
  };
}

/** In the directory of a thread: the copy of the work tree that a command of the person runs on. */
export const shellPlace = 'shell';
/** What of one is being removed. */
const removed = 'shell-removed';

/**
 * Removes copies that killed sessions left in threads without a writer. A thread is locked only for a rename. What
 * cannot be removed stays for the next session.
 */
export async function sweepCopies(repository: Pick<Repository, 'commonDir'>, own: string): Promise<void> {
  const { ids } = await listThreadIds(repository).catch(() => ({ ids: [] }));
  for (const id of ids)
    if (id !== own) await sweepThread(threadDirectory(repository, id)).catch(() => undefined);
}

async function sweepThread(directory: string): Promise<void> {
  const [copy, aside] = [join(directory, shellPlace), join(directory, removed)];
  if (await stands(aside)) await removeTree(aside);
  if (!(await stands(copy))) return;
  await requireOwnPlace(directory, ['lock']);
  const lock = await acquireProcessLock(join(directory, 'lock'), {
    busy: () => new WritError('THREAD_BUSY'),
  });
  try {
    await rename(copy, aside);
  } finally {
    await lock.release();
  }
  await removeTree(aside);
}

function stands(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
