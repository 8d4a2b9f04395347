import { isWritError } from '../../core/base/errors.ts';
import type { CarryReader } from '../../core/contract/approval.ts';
import { carriesApprovals } from '../config/approvals-section.ts';
import { describeObjects, readObjects } from '../vcs/blobs.ts';
import { isObjectId, type Repository } from '../vcs/repository.ts';
import { isAncestor, treeOf } from '../vcs/resolve-commit.ts';
import { normalisePatch } from './normalise.ts';
import { inUndoScratch } from './patch-undoing.ts';

/** Reads what carrying approvals over needs from the objects of a repository. */
export function carryReader(repository: Repository): CarryReader {
  const isCommit = async (id: string): Promise<boolean> => {
    if (!isObjectId(id)) return false;
    const [found] = await describeObjects(repository, [id]);
    return found?.type === 'commit';
  };
  return {
    async carriesApprovals(commit) {
      if (!(await isCommit(commit))) return undefined;
      const [file] = await readObjects(repository, [`${commit}:.writ/config.toml`]);
      return carriesApprovals(file?.type === 'blob' ? file.bytes : undefined);
    },
    async isAncestor(ancestor, commit) {
      if (!(await isCommit(ancestor)) || !(await isCommit(commit))) return undefined;
      return isAncestor(repository, ancestor, commit);
    },
    async patchDigest(baseCommit, tree) {
      if (!isObjectId(tree) || !(await isCommit(baseCommit))) return undefined;
      const [found] = await describeObjects(repository, [tree]);
      if (found?.type !== 'tree') return undefined;
      try {
        return await inUndoScratch(repository, async (scratch) => {
          const base = { commit: baseCommit, tree: await treeOf(scratch, baseCommit) };
          return (await normalisePatch(scratch, base, tree)).digest;
        });
      } catch (fault) {
        // A blob is missing, or the trees make no patch that writ accepts: nothing was shown to be equal.
        if (isWritError(fault)) return undefined;
        throw fault;
      }
    },
  };
}
