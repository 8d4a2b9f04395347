import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../core/base/printable.ts';
import type { GitDirectory } from './git.ts';
import { encodeId } from './ref-name.ts';
import { listRefs, readRef } from './refs.ts';
import type { Repository } from './repository.ts';

const prefix = 'refs/writ/set-aside';

/** The ref that holds the local changes that a run set aside. */
export function setAsideRef(runId: string): string {
  return `${prefix}/${encodeId(runId)}`;
}

/** The commit that holds the local changes of a run; `undefined` if nothing is set aside. */
export function readSetAside(place: GitDirectory, runId: string): Promise<string | undefined> {
  return readRef(place, setAsideRef(runId));
}

/** One sentence for each ref that holds local changes: what restores them, and what removes them. */
export async function setAsideNotices(
  repo: Pick<Repository, 'commonDir'> & GitDirectory,
): Promise<readonly string[]> {
  const refs = await listRefs(repo, prefix);
  return Promise.all(
    refs.map(async ({ ref }) => {
      const name = ref.slice(prefix.length + 1);
      // A run that has ended leaves no scratch directory.
      const isOpen = await lstat(join(repo.commonDir, 'writ', 'runs', name, 'scratch')).then(
        () => true,
        () => false,
      );
      return setAsideNotice(ref, isOpen ? name : undefined);
    }),
  );
}

/** `openRun`: the run if it has not ended, so that resuming it merges the changes back, or includes them. */
export function setAsideNotice(ref: string, openRun?: string): string {
  const shown = printable(ref);
  const resume =
    openRun === undefined ? '' : `\`writ resume ${printable(openRun)}\` finishes the run with them; `;
  return `\`${shown}\` holds local changes that a run set aside: ${resume}\`git stash apply ${shown}\` restores them, \`git update-ref -d ${shown}\` deletes them`;
}
