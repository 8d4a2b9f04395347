import { mergeTrees } from '../../vcs/merge-trees.ts';
import type { Scratch } from '../../vcs/scratch.ts';

/** What an accepted attempt made of its base. */
export interface AcceptedWork {
  readonly number: number;
  readonly baseTree: string;
  readonly tree: string;
}

/** The merged tree, or the first Task (in order) whose work does not fit onto what stands before it. */
export type MergedWork =
  | { readonly tree: string; readonly conflict?: undefined }
  | {
      readonly tree?: undefined;
      readonly conflict: {
        readonly number: number;
        readonly onto: string;
        readonly paths: readonly string[];
      };
    };

/** Merges accepted work onto `base`, in the order given (dependencies before dependants). */
export async function mergeTasks(
  scratch: Scratch,
  base: string,
  accepted: readonly AcceptedWork[],
): Promise<MergedWork> {
  let tree = base;
  for (const work of accepted) {
    const merged = await mergeTrees(scratch, work.baseTree, tree, work.tree);
    if (merged.conflicts !== undefined) {
      return { conflict: { number: work.number, onto: tree, paths: merged.conflicts } };
    }
    tree = merged.tree;
  }
  return { tree };
}
