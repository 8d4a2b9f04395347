import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { Repository } from '../git/repository.ts';
import { type Base, mergeBase, resolveCommit, shallowHints, treeOf } from '../git/resolve-commit.ts';

/**
 * Both ends of `A..B`, resolved: the merge base is the base, the tree of `tip` the candidate (4-resolutions, Target
 * ref).
 */
export interface ResolvedRange {
  readonly base: Base & { readonly commit: string };
  /** A, as a commit: where the change would go. */
  readonly from: string;
  readonly tip: string;
  readonly tipTree: string;
}

/**
 * Resolves `A..B` (also `A..`, B being HEAD). REF_INVALID for another form, REF_NOT_FOUND, without a common ancestor
 * PATCH_DOES_NOT_APPLY, in a shallow clone OBJECTS_MISSING.
 */
export async function resolveRange(repo: Repository, range: string): Promise<ResolvedRange> {
  const parts = range.split('..');
  const [from, to] = parts;
  if (parts.length !== 2 || from === undefined || to === undefined || from === '' || to.startsWith('.')) {
    throw new WritError('REF_INVALID', {
      message: `expected a range \`A..B\`, found \`${printable(range)}\``,
      detail: { range: printable(range) },
    });
  }
  const left = await resolveCommit(repo, from);
  const tip = await resolveCommit(repo, to === '' ? 'HEAD' : to);
  const common = await mergeBase(repo, left, tip);
  if (common === undefined) {
    const hints = await shallowHints(repo);
    // In a shallow clone the common ancestor may be among what was not fetched.
    throw new WritError(hints.length > 0 ? 'OBJECTS_MISSING' : 'PATCH_DOES_NOT_APPLY', {
      message: `the ends of \`${printable(range)}\` have no common ancestor${hints.length > 0 ? ' here' : ''}`,
      detail: { from: left, to: tip },
      hints,
    });
  }
  return {
    base: { commit: common, tree: await treeOf(repo, common) },
    from: left,
    tip,
    tipTree: await treeOf(repo, tip),
  };
}
