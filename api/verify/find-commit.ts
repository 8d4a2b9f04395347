import { commitIdOf, parseCommit } from '../../attest/verify/git-commit.ts';
import { refuted } from '../../attest/verify/report.ts';
import { requireOwnBytes } from '../../attest/verify/verify-tree.ts';
import { isWritError } from '../../core/base/errors.ts';
import { readObjects } from '../../engine/vcs/blobs.ts';
import { hashTree } from '../../engine/vcs/hash-tree.ts';
import { effectsOn, readReplacements } from '../../engine/vcs/replacements.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { readHead } from '../../engine/vcs/resolve-commit.ts';

/** The commit that is checked out in the repository at hand; `undefined` outside of one and on an unborn branch. */
export async function headCommit(open: () => Promise<Repository>): Promise<string | undefined> {
  try {
    return (await readHead(await open())).commit;
  } catch (fault) {
    if (isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  }
}

/**
 * The first of these ids that is a commit of the repository at hand; outside of one there is none. One that plain git
 * shows otherwise than it is, is refused (`replaced`), and so is one of which commit, trees or files are kept here with
 * other bytes than their ids name (`mismatch`).
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
    const reckoned = commitIdOf(commit.bytes, commit.id);
    if (reckoned !== commit.id) throw refuted('mismatch', { expected: commit.id, found: reckoned });
    const { tree } = parseCommit(commit.bytes) ?? {};
    if (tree === undefined) throw refuted('malformed', { found: 'not a commit object' });
    requireOwnBytes(await hashTree(repository, tree));
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
