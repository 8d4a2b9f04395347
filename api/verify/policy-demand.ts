import type { PolicyDemand } from '../../attest/verify/certified-source.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { isObjectId, isShallow, type Repository } from '../../workspace/git/repository.ts';
import { isAncestor, resolveCommit } from '../../workspace/git/resolve-commit.ts';
import { namedBranch } from '../../workspace/git/target.ts';

/**
 * Returns the demand of `--policy`: a commit of a branch of this repository, or exactly the given full commit id,
 * which needs no repository. REF_NOT_FOUND if the name is not a branch. If the policy commit is missing here, the
 * demand is neither met nor refuted.
 */
export function demandOf(name: string, open: () => Promise<Repository>): PolicyDemand {
  const branchTip = async (repository: Repository): Promise<string> => {
    const branch = await namedBranch(repository, name);
    if (branch === undefined)
      throw new WritError('REF_NOT_FOUND', {
        message: `\`--policy\` expected a branch or a full commit id, found \`${printable(name)}\``,
        detail: { ref: printable(name) },
      });
    return resolveCommit(repository, branch);
  };
  const reaches = async (commit: string): Promise<boolean | undefined> => {
    const repository = await open();
    const tip = await branchTip(repository);
    try {
      await resolveCommit(repository, commit);
    } catch {
      return undefined;
    }
    if (await isAncestor(repository, commit, tip)) return true;
    // A shallow history may not show what it holds.
    return isShallow(repository) ? undefined : false;
  };
  return {
    name: printable(name),
    holds: async (commit) => (isObjectId(name) ? name === commit : reaches(commit)),
    reaches: async (commit) => (isObjectId(name) ? undefined : reaches(commit)),
  };
}
