import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { type MergeOutcome, mergeTrees } from '../git/merge-trees.ts';
import { parentTree } from '../git/parent-tree.ts';
import type { Repository } from '../git/repository.ts';
import { type Base, treeOf } from '../git/resolve-commit.ts';
import { createScratch, type Scratch } from '../git/scratch.ts';
import { normalisePatch } from './normalise.ts';

/** A patch that takes something back, or the paths in which what came later stands in its way. */
export type Undoing =
  | { readonly bytes: Buffer; readonly files: readonly PatchFile[]; readonly conflicts?: undefined }
  | { readonly bytes?: undefined; readonly conflicts: readonly string[] };

/** What is taken back: the trees that stood before it and after it. */
export interface UndoneStep {
  readonly before: string;
  readonly after: string;
}

/** A scratch over the repository for as long as `act` takes: nothing of the repository is touched. */
export async function inUndoScratch<T>(
  repository: Repository,
  act: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const box = await mkdtemp(join(tmpdir(), 'writ-undo-'));
  try {
    return await act(await createScratch(join(box, 'scratch'), repository));
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

/** A tree without what those steps did, the last of them taken back first: each a three-way merge. */
export async function treeWithout(
  scratch: Scratch,
  steps: readonly UndoneStep[],
  tree: string,
): Promise<MergeOutcome> {
  let left = tree;
  for (const { before, after } of steps.toReversed()) {
    const merged = await mergeTrees(scratch, after, left, before);
    if (merged.conflicts !== undefined) return merged;
    left = merged.tree;
  }
  return { tree: left };
}

/**
 * What takes those steps back at `tip`, merged with what was done since, so that what others have changed elsewhere
 * stays. `undefined` where nothing of them is left there.
 */
export async function stepsUndoing(
  scratch: Scratch,
  steps: readonly UndoneStep[],
  tip: Base,
): Promise<Undoing | undefined> {
  const { tree, conflicts } = await treeWithout(scratch, steps, tip.tree);
  if (conflicts !== undefined) return { conflicts };
  if (tree === tip.tree) return undefined;
  const { diff, files } = await normalisePatch(scratch, tip, tree);
  return { bytes: Buffer.from(diff), files };
}

/** {@link stepsUndoing} for a commit, whatever a record says that it was made on. */
export async function patchUndoing(
  repository: Repository,
  commit: string,
  tip: Base,
): Promise<Undoing | undefined> {
  return inUndoScratch(repository, async (scratch) => {
    const [after, before] = await Promise.all([treeOf(repository, commit), parentTree(repository, commit)]);
    return stepsUndoing(scratch, [{ before, after }], tip);
  });
}
