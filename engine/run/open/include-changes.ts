import { isWritError } from '../../../core/base/errors.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import { patchFromBytes, pathsNamed } from '../../patch/patch-from-bytes.ts';
import { touchedBy } from '../../vcs/dirty-paths.ts';
import { mergeLocal, readLocalContent } from '../../vcs/include-local.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { Scratch } from '../../vcs/scratch.ts';
import type { Landing } from '../state/landing.ts';
import { chooseLocalChanges, type LocalDecision, requireNothingToInclude } from '../state/local-decision.ts';
import type { Origin } from '../state/resolve-origin.ts';
import type { RunRequest } from '../state/run-request.ts';
import { takeCandidate } from './take-candidate.ts';

/** A supplied candidate, and what happens to local changes at its paths. */
export interface SuppliedChange {
  readonly supplied: PatchSet | undefined;
  readonly local: LocalDecision | undefined;
}

type Asked = Pick<RunRequest, 'source' | 'localChanges' | 'askLocalChanges'>;

/**
 * A supplied change, with the local changes at its paths merged into it if the user includes them. A patch that was
 * made on the local content applies on top of that. WORKTREE_DIRTY if local changes conflict or cannot be included, and
 * what `takeCandidate` throws.
 */
export async function takeWithChanges(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target'>,
): Promise<SuppliedChange> {
  const { base, target } = landing;
  let made: PatchSet | undefined;
  try {
    made = await takeCandidate(scratch, request, origin, landing);
  } catch (fault) {
    if (!isWritError(fault, 'PATCH_DOES_NOT_APPLY')) throw fault;
    if (!target.checkedOutHere) {
      const { source, localChanges } = request;
      if (source.kind === 'patch' && localChanges === 'include')
        await requireNothingToInclude(repository, target.ref, touchedBy(pathsNamed(source.bytes)));
      throw fault;
    }
    const taken = await takeOnTop(scratch, repository, request, origin, landing);
    if (taken === undefined) throw fault;
    return taken;
  }
  if (made === undefined) return { supplied: made, local: undefined };
  if (!target.checkedOutHere) {
    if (request.localChanges === 'include') await requireNothingToInclude(repository, target.ref, made.files);
    return { supplied: made, local: undefined };
  }
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, made.files);
  if (choice !== 'include' || dirty.length === 0)
    return { supplied: made, local: choice === 'stop' ? undefined : { choice } };
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const tree = await mergeLocal(scratch, base.tree, made.candidateTree, included);
  return { supplied: await normalisePatch(scratch, base, tree), local: { choice, included } };
}

/** The patch applied on top of the local changes at the paths that it names; `undefined` if there are none. */
async function takeOnTop(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  { base, target }: Pick<Landing, 'base' | 'target'>,
): Promise<SuppliedChange | undefined> {
  const { source } = request;
  // A patch for an older commit was made on that commit, not on the working tree.
  if (source.kind !== 'patch' || origin.base.commit !== base.commit) return undefined;
  const files = touchedBy(pathsNamed(source.bytes));
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include' || dirty.length === 0) return undefined;
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const { candidateTree } = await patchFromBytes(scratch, { ...base, tree: included.tree }, source.bytes);
  return {
    supplied: await normalisePatch(scratch, base, candidateTree),
    local: { choice: 'include', included },
  };
}
