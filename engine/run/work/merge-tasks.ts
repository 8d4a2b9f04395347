import { mergeTrees } from '../../vcs/merge-trees.ts';
import type { Scratch } from '../../vcs/scratch.ts';

/** What an accepted attempt made of its base. */
export interface AcceptedWork {
  readonly number: number;
  readonly baseTree: string;
  readonly tree: string;
}

/** The merged tree, or the first work (in order) that does not fit onto what stands before it. */
export type MergedWork =
  | { readonly tree: string; readonly conflict?: undefined }
  | {
      readonly tree?: undefined;
      readonly conflict: {
        /** Its place among the work that was to be merged. */
        readonly at: number;
        readonly onto: string;
        readonly paths: readonly string[];
      };
    };

/** The merged tree where each work starts from what stands before it, so that there is nothing to merge. */
export function stackedTree(base: string, accepted: readonly AcceptedWork[]): string | undefined {
  let at = base;
  for (const { baseTree, tree } of accepted) {
    if (at === baseTree || at === tree) at = tree;
    else if (tree !== baseTree) return undefined;
  }
  return at;
}

/** Merges what accepted work did onto `base`, in the order given (dependencies before dependants). */
export async function mergeTasks(
  scratch: Scratch,
  base: string,
  accepted: readonly AcceptedWork[],
): Promise<MergedWork> {
  let tree = base;
  for (const [at, work] of accepted.entries()) {
    const merged = await mergeTrees(scratch, work.baseTree, tree, work.tree);
    if (merged.conflicts !== undefined) return { conflict: { at, onto: tree, paths: merged.conflicts } };
    tree = merged.tree;
  }
  return { tree };
}

/** What stands after each accepted work is merged, in that order; `undefined` where one does not fit. */
export async function treesOf(
  scratch: Scratch,
  base: string,
  accepted: readonly AcceptedWork[],
): Promise<readonly string[] | undefined> {
  const trees: string[] = [];
  for (const work of accepted) {
    const { tree } = await mergeTrees(scratch, work.baseTree, trees.at(-1) ?? base, work.tree);
    if (tree === undefined) return undefined;
    trees.push(tree);
  }
  return trees;
}
