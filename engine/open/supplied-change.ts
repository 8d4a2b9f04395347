/* The list of preflight checks, and those that need no repository. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { touchedBy } from '../../workspace/git/dirty-paths.ts';
import { mergeLocal, readLocalContent } from '../../workspace/git/include-local.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { requireLandable } from '../../workspace/git/set-aside.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { patchFromBytes, patchFromRange, pathsNamed } from '../../workspace/patch/read-patch.ts';
import {
  chooseLocalChanges,
  type LocalDecision,
  predictedFiles,
  requireNothingToInclude,
  targetHere,
} from '../state/commit-wording.ts';
import type { Landing } from '../state/policies.ts';
import type { Origin, RunRequest } from '../state/run-request.ts';

/** A supplied candidate, and what happens to local changes at its paths. */
interface SuppliedChange {
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

/**
 * Reads a supplied change as a patchset in the scratch. Throws a PATCH_ error if it is not a valid change of this
 * repository. If the target advanced since the change started, the result is the three-way merge onto its tip, so
 * that writ checks exactly what lands. Returns `undefined` if a worker will make the change.
 */
async function takeCandidate(
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

/**
 * What happens to local changes at the paths that a worker is predicted to write. WORKTREE_DIRTY; nothing for a
 * supplied change, whose paths are known.
 */
export async function settlePredicted(
  scratch: Scratch,
  repository: Repository,
  request: Asked & Pick<RunRequest, 'heldFor' | 'advice'>,
  landing: Landing,
  draft: PlanDraft,
): Promise<LocalDecision | undefined> {
  const target = await targetHere(repository, landing, request.heldFor);
  if (request.source.kind !== 'worker') return undefined;
  const files = predictedFiles(draft, request.advice);
  if (target === undefined) {
    if (request.localChanges !== 'include') return undefined;
    await requireNothingToInclude(repository, landing.target.ref, files);
    return { choice: 'include' };
  }
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include') {
    await requireLandable(repository, target, files, choice);
    return choice === 'stop' ? undefined : { choice };
  }
  if (dirty.length === 0) return { choice };
  return { choice, included: await readLocalContent(repository, scratch, landing.base.tree, target, dirty) };
}
