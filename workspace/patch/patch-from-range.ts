import { WritError } from '../../core/base/errors.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { countChangedPaths } from '../git/count-changed-paths.ts';
import type { Scratch } from '../git/scratch.ts';
import { normalisePatch } from './normalise.ts';
import type { ResolvedRange } from './resolve-range.ts';

/** Git names each path in some hundred octets, and a patch holds 256 MiB. */
const maxPaths = 1_000_000;

/**
 * The PatchSet of a resolved range; `scratch` must borrow from the repository. INPUT_TOO_LARGE also for trees that
 * differ at more than a million paths, before git lists them.
 */
export async function patchFromRange(
  scratch: Scratch,
  { base, tip, tipTree }: ResolvedRange,
): Promise<PatchSet> {
  const paths = await countChangedPaths(scratch, base.tree, tipTree);
  if (paths <= maxPaths) return normalisePatch(scratch, base, tipTree);
  throw new WritError('INPUT_TOO_LARGE', {
    message: `the change from \`${base.commit.slice(0, 12)}\` to \`${tip.slice(0, 12)}\` names more than ${maxPaths} paths`,
    detail: { base: base.commit, commit: tip, maxPaths },
  });
}
