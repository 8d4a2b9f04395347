import type { PatchSet } from '../../core/contract/patch-set.ts';
import type { Scratch } from '../vcs/scratch.ts';
import { normalisePatch } from './normalise.ts';
import type { ResolvedRange } from './resolve-range.ts';

/** The PatchSet of a resolved range; `scratch` must borrow from the repository. */
export async function patchFromRange(scratch: Scratch, range: ResolvedRange): Promise<PatchSet> {
  return normalisePatch(scratch, range.base, range.tipTree);
}
