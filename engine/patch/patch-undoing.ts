import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import { mergeTrees } from '../vcs/merge-trees.ts';
import { emptyTreeOf, type Repository } from '../vcs/repository.ts';
import { type Base, treeOf } from '../vcs/resolve-commit.ts';
import { createScratch } from '../vcs/scratch.ts';
import { normalisePatch } from './normalise.ts';

/** A patch that takes a commit back, or the paths in which what came later stands in its way. */
export type Undoing =
  | { readonly bytes: Buffer; readonly files: readonly PatchFile[]; readonly conflicts?: undefined }
  | { readonly bytes?: undefined; readonly conflicts: readonly string[] };

/**
 * What takes a commit back at `tip`: the three-way merge of what was done since with its parent, so that what others
 * have changed elsewhere stays. `undefined` where nothing of it is left there. Nothing of the repository is touched.
 */
export async function patchUndoing(
  repository: Repository,
  { commit, parent }: { readonly commit: string; readonly parent: string | undefined },
  tip: Base,
): Promise<Undoing | undefined> {
  const box = await mkdtemp(join(tmpdir(), 'writ-undo-'));
  try {
    const scratch = await createScratch(join(box, 'scratch'), repository);
    const [made, before] = await Promise.all([
      treeOf(repository, commit),
      parent === undefined ? emptyTreeOf(repository) : treeOf(repository, parent),
    ]);
    const { tree, conflicts } = await mergeTrees(scratch, made, tip.tree, before);
    if (conflicts !== undefined) return { conflicts };
    if (tree === tip.tree) return undefined;
    const { diff, files } = await normalisePatch(scratch, tip, tree);
    return { bytes: Buffer.from(diff), files };
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}
