import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CopiedTree, copyWorkTree } from '../../../workspace/git/copy-work-tree.ts';
import { removeTree } from '../../../workspace/git/remove-tree.ts';
import type { Repository } from '../../../workspace/git/repository.ts';

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
  /** Nobody writes to it any more. */
  keep(copied: CopiedTree): void;
  /** Takes away what the last command alone had. */
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
