import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import { patchFromBytes } from '../../patch/patch-from-bytes.ts';
import { patchFromRange } from '../../patch/patch-from-range.ts';
import { mergeTrees } from '../../vcs/merge-trees.ts';
import type { Scratch } from '../../vcs/scratch.ts';
import type { Landing } from '../state/landing.ts';
import type { Origin } from '../state/resolve-origin.ts';
import type { RunRequest } from '../state/run-request.ts';

/**
 * A supplied change as a patchset in the scratch; every way in which it can be no change of this repository is a PATCH_
 * error. Where the target has gone on since the change started, it is the three-way merge onto its tip: what is judged
 * is what lands. `undefined` where a worker will make it.
 */
export async function takeCandidate(
  scratch: Scratch,
  request: Pick<RunRequest, 'source'>,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target'>,
): Promise<PatchSet | undefined> {
  const made = origin.range
    ? await patchFromRange(scratch, origin.range)
    : request.source.kind === 'patch'
      ? await patchFromBytes(scratch, origin.base, request.source.bytes)
      : undefined;
  if (made === undefined || origin.base.commit === landing.base.commit) return made;
  const merged = await mergeTrees(scratch, origin.base.tree, landing.base.tree, made.candidateTree);
  if (merged.tree !== undefined) return normalisePatch(scratch, landing.base, merged.tree);
  const paths = merged.conflicts.map(printable);
  const listed = paths.slice(0, 5).map((path) => `\`${path}\``);
  const more = paths.length > listed.length ? ` and ${paths.length - listed.length} more` : '';
  throw new WritError('PATCH_CONFLICT', {
    message: `the change does not merge onto \`${printable(landing.target.ref)}\`: conflicts in ${listed.join(', ')}${more}`,
    detail: { ref: landing.target.ref, tip: landing.base.commit, paths: paths.slice(0, 1000) },
  });
}
