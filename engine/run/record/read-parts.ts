import { sha256Hex } from '../../../core/base/digest.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { patchFromBytes } from '../../patch/patch-from-bytes.ts';
import { type PartRecord, parseParts, partContentPath, partsPath } from '../../store/record/parts.ts';
import type { RunStore } from '../../store/run-store.ts';
import { parentTree } from '../../vcs/parent-tree.ts';
import { treeOf } from '../../vcs/resolve-commit.ts';
import type { Scratch } from '../../vcs/scratch.ts';

/** A part whose trees are in a scratch. */
export interface LaidPart {
  readonly part: PartRecord;
  readonly before: string;
  readonly after: string;
}

/** The parts of a sealed run, or why they are not believed or not there. */
type LaidParts =
  | { readonly kind: 'laid'; readonly parts: readonly LaidPart[] }
  /** `untold`: the record names none; `gone`: their content is not kept any more. */
  | { readonly kind: 'untold' | 'gone' }
  | { readonly kind: 'refuted'; readonly why: string };

/**
 * Builds what each Task of a run changed again, in a scratch over the repository: from the parent of the commit, diff
 * upon diff, to its tree. Who writes the record's refs can write anything there, so nothing is believed of it that this
 * does not come to.
 */
export async function layParts(
  scratch: Scratch,
  { objects, refs }: RunStore,
  runId: string,
  commit: string,
): Promise<LaidParts> {
  const bytes = await objects.read(refs.run(runId), partsPath);
  if (bytes === undefined) return { kind: 'untold' };
  try {
    const { parts } = parseParts(bytes);
    let tree = await parentTree(scratch, commit);
    const laid: LaidPart[] = [];
    for (const part of parts) {
      const path = partContentPath(part);
      const diff = await objects.read(refs.content(runId), path);
      if (diff === undefined) return { kind: 'gone' };
      if (sha256Hex(diff) !== part.digest) return refuted(`\`${path}\` is not what it says`);
      const { candidateTree } = await patchFromBytes(scratch, { commit, tree }, diff);
      if (candidateTree !== part.candidate_tree)
        return refuted(`\`${path}\` leads to other files than it says`);
      laid.push({ part, before: tree, after: candidateTree });
      tree = candidateTree;
    }
    if (tree !== (await treeOf(scratch, commit)))
      return refuted('what its tasks changed does not add up to its commit');
    return { kind: 'laid', parts: laid };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    if (fault.code !== 'OBJECT_CORRUPT' && !fault.code.startsWith('PATCH_')) throw fault;
    return refuted(fault.message);
  }
}

function refuted(why: string): LaidParts {
  return { kind: 'refuted', why };
}
