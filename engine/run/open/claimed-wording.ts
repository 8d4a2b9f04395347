import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { describeObjects } from '../../vcs/blobs.ts';
import { mergeTrees } from '../../vcs/merge-trees.ts';
import { mergeBase, treeOf } from '../../vcs/resolve-commit.ts';
import type { Scratch } from '../../vcs/scratch.ts';
import { type CommitWording, readWording } from '../state/commit-wording.ts';
import type { Ground } from '../state/ground.ts';

/**
 * Words and people of a run of which only a claim is left: those of the claimed range, where its commits are here and
 * really come to the candidate; else nobody's. A claim must not put a change under somebody's name.
 */
export async function claimedWording(
  scratch: Scratch,
  { repository, base }: Pick<Ground, 'repository' | 'base'>,
  tip: string | undefined,
  candidate: PatchSet | undefined,
): Promise<CommitWording> {
  if (tip === undefined || candidate === undefined || base.commit === undefined) return {};
  // A range travels as its candidate: its commits may never have left the clone of their author.
  const [found] = await describeObjects(repository, [tip]);
  if (found?.type !== 'commit') return {};
  const from = await mergeBase(scratch, base.commit, tip);
  if (from === undefined) return {};
  const [start, tipTree] = [await treeOf(scratch, from), await treeOf(scratch, tip)];
  const { tree } = await mergeTrees(scratch, start, base.tree, tipTree);
  if (tree !== candidate.candidateTree) return {};
  const range = { base: { commit: from, tree: start }, from, tip, tipTree };
  return readWording(repository, {}, { base: range.base, range });
}
