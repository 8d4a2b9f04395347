import type { JudgeReach } from '../../../core/interfaces/judge-reach.ts';
import { readLinks } from '../../../readers/judges/tree.ts';
import { isOfTests } from '../../../readers/source/test-paths.ts';
import { readBlobs } from '../../../workspace/git/read-objects.ts';
import { listTree, type TreeEntry } from '../../../workspace/git/tree.ts';
import type { Attempt } from '../../state/open-run.ts';
import { findJudge } from '../second-run/find-judge.ts';
import { digestOf } from './kept-footprints.ts';

/** The tree in which checks are observed, with its verification inputs. */
export interface JudgedTree {
  readonly tree: string;
  /** Whether it is the tree of the base. */
  readonly isBase: boolean;
  readonly entries: readonly TreeEntry[];
  /** Targets of its symbolic links. */
  readonly links: ReadonlyMap<string, string>;
  readonly reach: JudgeReach;
  /** Digest of the verification inputs: files that the commands reach, and tests. */
  readonly judges: string;
}

/** Returns the base; if the policy commit has other verification inputs, returns the policy commit. */
export async function judgedTree(attempt: Attempt): Promise<JudgedTree> {
  const { patch, ground } = attempt;
  const base = await judgedAt(attempt, patch.baseTree);
  if (ground.policy.tree === patch.baseTree) return base;
  const policy = await judgedAt(attempt, ground.policy.tree);
  return policy.judges === base.judges ? base : policy;
}

/** Returns one tree with its verification inputs; `seen` as in `findJudge`. */
export async function judgedAt(
  { identity, means, patch, ground }: Attempt,
  tree: string,
  seen?: readonly string[],
): Promise<JudgedTree> {
  const entries = await listTree(means.scratch, tree);
  const reach = await findJudge(
    means.scratch,
    tree,
    identity.contract.effective,
    ground.config.workspace.prepare,
    seen,
  );
  const reached = new Set(reach.files.map(({ path }) => path));
  const judging = entries.filter(({ path }) => reached.has(path) || isOfTests(path));
  const links = await readLinks(entries, (paths) => readBlobs(means.scratch, tree, paths));
  return { tree, isBase: tree === patch.baseTree, entries, links, reach, judges: digestOf(judging) };
}
