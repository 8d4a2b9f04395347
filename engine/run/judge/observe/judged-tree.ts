import type { JudgeReach } from '../../../../core/contract/judge-reach.ts';
import { isOfTests } from '../../../../readers/source/test-paths.ts';
import { listTree, type TreeEntry } from '../../../vcs/tree.ts';
import type { Attempt } from '../../state/attempt.ts';
import { findJudge } from '../second-run/find-judge.ts';
import { digestOf } from './kept-footprints.ts';

/** The tree whose checks are observed, with what judges in it. */
export interface JudgedTree {
  readonly tree: string;
  /** Whether it is the tree of the base. */
  readonly isBase: boolean;
  readonly entries: readonly TreeEntry[];
  readonly reach: JudgeReach;
  /** Digest of the files that judge: what the commands reach, and tests. */
  readonly judges: string;
}

/** The base, unless the policy commit has another judge: then the policy commit. */
export async function judgedTree({ identity, means, patch, ground }: Attempt): Promise<JudgedTree> {
  const spec = identity.contract.effective;
  const read = async (tree: string, isBase: boolean): Promise<JudgedTree> => {
    const entries = await listTree(means.scratch, tree);
    const reach = await findJudge(means.scratch, tree, spec);
    const reached = new Set(reach.files.map(({ path }) => path));
    const judging = entries.filter(({ path }) => reached.has(path) || isOfTests(path));
    return { tree, isBase, entries, reach, judges: digestOf(judging) };
  };
  const base = await read(patch.baseTree, true);
  if (ground.policy.tree === patch.baseTree) return base;
  const policy = await read(ground.policy.tree, false);
  return policy.judges === base.judges ? base : policy;
}
