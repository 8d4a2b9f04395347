import { namedBranch } from './named-branch.ts';
import type { Target } from './plan-target.ts';
import { readRef } from './refs.ts';
import type { Repository } from './repository.ts';
import { type Base, resolveCommit, treeOf } from './resolve-commit.ts';

/**
 * The commit whose `.writ/` judges a run: configuration, plugins, policies, signers. Without a commit, the empty tree
 * of an unborn branch.
 */
export interface PolicyCommit extends Base {
  /** The branch that it is the tip of, and must still be at the swap; absent where it is the base of the change. */
  readonly ref?: string;
}

/**
 * The policy commit (4-resolutions): the tip of the target ref where it exists, else of the branch that baseRef names,
 * else the base. Never the working tree, never the candidate: a change must not choose its judges, nor escape newer
 * ones by an old base.
 */
export async function findPolicy(
  repo: Repository,
  { target, baseRef, base }: { readonly target: Target; readonly baseRef: string; readonly base: Base },
): Promise<PolicyCommit> {
  if (target.expected !== undefined)
    return { commit: target.expected, tree: await treeOf(repo, target.expected), ref: target.ref };
  const ref = await namedBranch(repo, baseRef);
  if (ref === undefined || (await readRef(repo, ref)) === undefined) return base;
  const commit = await resolveCommit(repo, ref);
  return { commit, tree: await treeOf(repo, commit), ref };
}
