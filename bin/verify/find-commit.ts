import { refuted } from '../../attest/verify/report.ts';
import { isWritError } from '../../core/base/errors.ts';
import { readObjects } from '../../core/vcs/blobs.ts';
import { effectsOn, readReplacements } from '../../core/vcs/replacements.ts';
import type { Repository } from '../../core/vcs/repository.ts';

/**
 * The first of these ids that is a commit of the repository at hand; outside of one there is none. One that plain git shows otherwise than it is, is
 * refused (`replaced`).
 */
export async function findCommit(
  open: () => Promise<Repository>,
  ids: readonly string[],
): Promise<string | undefined> {
  try {
    const repository = await open();
    const objects = await readObjects(repository, ids);
    const commit = objects.find((object) => object?.type === 'commit');
    if (commit === undefined) return undefined;
    const found = await effectsOn(repository, await readReplacements(repository), {
      target: commit.id,
      commit: commit.id,
      raw: commit.bytes,
    });
    if (found.length > 0) throw refuted('replaced', { found });
    return commit.id;
  } catch (fault) {
    if (isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  }
}
