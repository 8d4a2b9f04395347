/* Moves the target branch to the sealed commit, as the last step. */
import { messageOf, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import {
  dirtyPaths,
  filteredPaths,
  type Touched,
  touchedBetween,
  touchedBy,
} from '../../workspace/git/dirty-paths.ts';
import { finishFollow, followWorktree, swapTarget } from '../../workspace/git/follow-target.ts';
import { changedEntries } from '../../workspace/git/held-index.ts';
import { describeLocal, type IncludedChanges } from '../../workspace/git/include-local.ts';
import { readRef, updateRefs } from '../../workspace/git/refs.ts';
import { emptyTreeOf, type Repository } from '../../workspace/git/repository.ts';
import { readHead, resolveBase } from '../../workspace/git/resolve-commit.ts';
import {
  type AroundOutcome,
  dropSetAside,
  followAround,
  type LocalChanges,
  localChangesOf,
  readSetAside,
  setAsideNotice,
  storeSetAside,
  stuckPaths,
} from '../../workspace/git/set-aside.ts';
import { planTarget, reopenTarget, type Target } from '../../workspace/git/target.ts';
import type { SealingFault } from '../record/decision-input.ts';
import { followNotices } from '../record/journal-view.ts';

/** A sealed commit on its way to the branch that it is for. */
export interface TargetMove {
  readonly runId: string;
  readonly target: Target;
  readonly commit: string;
  readonly files: readonly Touched[];
  /** The branch and commit that supplied the policy, as the run knows them. */
  readonly policy: { readonly ref?: string | undefined; readonly commit: string | undefined };
  /** In what time somebody else may have changed something. */
  readonly when: string;
  /** What happens to local changes at these paths. */
  readonly local?: {
    readonly choice: LocalChanges | undefined;
    readonly atMs: number;
    /** Local changes that are part of the commit: the working tree must still hold exactly these. */
    readonly included?: Pick<IncludedChanges, 'paths' | 'digest'> | undefined;
  };
}

/**
 * Moves the target branch: the only move that the user sees. If the target is already at our commit, an earlier
 * process of this run moved it.
 */
export async function moveTarget(
  repository: Repository,
  { runId, target, commit, files, policy, when, local }: TargetMove,
): Promise<{ lost?: string; by?: SealingFault }> {
  if ((await readRef(repository, target.ref)) === commit) return {};
  const included = target.checkedOutHere ? local?.included : undefined;
  const touched = [...files, ...touchedBy(included?.paths ?? [])];
  const dirty = target.checkedOutHere ? await dirtyPaths(repository, touched) : [];
  const isStored =
    included !== undefined || (await localChangesOf(repository, runId, local?.choice)) === 'set-aside';
  const stuck = isStored ? await stuckPaths(repository, target, dirty) : dirty;
  const changed = (paths: readonly string[]): { lost: string; by: SealingFault } => {
    const shown = paths.slice(0, 5).map((path) => `\`${printable(path)}\``);
    return { lost: `${shown.join(', ')} changed in the working tree ${when}`, by: 'changed-under-us' };
  };
  if (stuck.length > 0) return changed(stuck.map(({ path }) => path));
  if (isStored && target.expected !== undefined && (dirty.length > 0 || included !== undefined)) {
    const paths = dirty.map(({ path }) => path);
    const base = target.expected;
    const stored = await storeSetAside(repository, { runId, base, paths, atMs: local?.atMs ?? 0 });
    const found = included && (await describeLocal(repository, base, stored));
    if (found && found.digest !== included.digest) {
      await dropSetAside(repository, runId, stored);
      return changed([...new Set([...included.paths, ...found.paths])]);
    }
  }
  const { ref, commit: judgedBy } = policy;
  const held = ref === undefined || judgedBy === undefined ? undefined : { ref, commit: judgedBy };
  const swap = await swapTarget(repository, target, commit, `writ: run ${runId}`, held);
  if (swap.moved) return {};
  // No file was touched: what is stored is still in the working tree.
  const stored = await readSetAside(repository, runId);
  if (stored !== undefined) await dropSetAside(repository, runId, stored);
  const stale = swap.stale[0]?.ref ?? target.ref;
  const whose = stale === target.ref ? '' : ', whose policy was applied to the change,';
  return { lost: `\`${stale}\`${whose} was moved by somebody else ${when}`, by: 'swap-lost' };
}

/**
 * Index and files behind the move; `isAgain`: an earlier process may have been stopped in the middle of it. Local
 * changes that the run set aside are merged back, unless the commit includes them.
 */
export async function followTarget(
  repository: Repository,
  runId: string,
  target: Target,
  commit: string,
  isAgain: boolean,
  isIncluded = false,
): Promise<AroundOutcome> {
  try {
    const stored = target.checkedOutHere ? await readSetAside(repository, runId) : undefined;
    const outcome =
      stored === undefined
        ? await (isAgain ? finishFollow : followWorktree)(repository, target, commit)
        : await followAround(repository, target, commit, { runId, stored, isIncluded });
    if (outcome.state !== 'followed') return outcome;
    const unfiltered = await unfilteredPaths(repository, target, commit);
    return unfiltered.length === 0 ? outcome : { ...outcome, unfiltered };
  } catch (fault) {
    // The branch has already moved. A failure to update files is reported and undoes no earlier step.
    return { state: 'failed', reason: messageOf(fault) };
  }
}

/** Paths that a configured filter of git would have converted on their way to the working tree. */
async function unfilteredPaths(
  repository: Repository,
  target: Target,
  commit: string,
): Promise<readonly string[]> {
  if (repository.settings.length === 0) return [];
  const changes = await changedEntries(repository, target.expected ?? emptyTreeOf(repository), commit);
  const written = changes.flatMap(({ path, after }) => (after === undefined ? [] : [path]));
  return (await filteredPaths(repository, written)).map(({ path }) => path);
}

/** A sealed commit on a separate branch, until a person decides whether it lands on its target. */
export interface HeldChange {
  readonly runId: string;
  readonly commit: string;
  /** Full name of the branch that holds it. */
  readonly branch: string;
  /** The branch that it is for; `expected` as in `Target`. */
  readonly target: Pick<Target, 'ref' | 'expected'>;
}

/** The result: landed, or why not; then no ref or file has changed. */
type Landed = { readonly lost: string } | { readonly notice?: string };

/** Prefix of the branches that hold changes: `writ/review-RUN`. */
const above = 'refs/heads/writ';

/** Throws UNSUPPORTED_OPERATION if a branch `writ` exists, because git then allows no branch below `writ/`. */
export async function requireHoldable(repository: Repository): Promise<void> {
  if ((await readRef(repository, above)) === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'git cannot create the branch `writ/review-RUN`, because a branch `writ` exists',
    hints: ['rename it (`git branch -m writ OTHER`), then try again'],
  });
}

/** The branch that a run of this spec would move if its change were not held (`planTarget`). */
export async function unheldTarget(
  repository: Repository,
  baseRef: string,
  runId: string,
): Promise<HeldChange['target']> {
  const base = await resolveBase(repository, baseRef);
  const { ref, expected } = await planTarget(repository, { baseRef, baseCommit: base.commit, runId });
  return { ref, expected };
}

/**
 * Moves the target branch of a held commit, with the same checks as a run: neither the target nor the policy branch
 * has moved, and no file of the change was touched. Index and files follow. Idempotent.
 */
export async function landHeld(
  repository: Repository,
  { runId, commit, target: meant }: HeldChange,
  { baseCommit, policyRef: ref, policyCommit }: Pick<RunView, 'baseCommit' | 'policyRef' | 'policyCommit'>,
  local?: TargetMove['local'],
): Promise<Landed> {
  const target = await reopenTarget(repository, meant);
  const files = await touchedBetween(repository, baseCommit ?? emptyTreeOf(repository), commit);
  const isAgain = (await readRef(repository, target.ref)) === commit;
  const policy = { ref, commit: policyCommit };
  const when = 'since it was made';
  const { lost } = await moveTarget(repository, {
    runId,
    target,
    commit,
    files,
    policy,
    when,
    ...(local && { local }),
  });
  if (lost !== undefined) return { lost };
  const isIncluded = local?.included !== undefined;
  const follow = await followTarget(repository, runId, target, commit, isAgain, isIncluded);
  if (follow.merged !== undefined) await dropSetAside(repository, runId, follow.merged);
  const stays = follow.kept === undefined ? [] : [setAsideNotice(follow.kept.ref)];
  const notices = [...followNotices(follow), ...stays];
  return notices.length === 0 ? {} : { notice: notices.join('\n') };
}

/**
 * Deletes the branch that held a commit. Keeps a branch that is checked out, moved or extended, and returns why in
 * words.
 */
export async function dropHeld(
  repository: Repository,
  { branch, commit, runId }: Pick<HeldChange, 'branch' | 'commit' | 'runId'>,
): Promise<string | undefined> {
  const found = await readRef(repository, branch);
  if (found === undefined) return undefined;
  if (found !== commit) return `\`${branch}\` stays: somebody has put more on it`;
  if ((await readHead(repository)).branch === branch) return `\`${branch}\` stays: it is checked out`;
  // TARGET_CHECKED_OUT where another work tree has it.
  await reopenTarget(repository, { ref: branch, expected: commit });
  const update = { ref: branch, old: commit, new: undefined };
  const { moved } = await updateRefs(repository, [update], `writ: review of run ${runId}`);
  return moved ? undefined : `\`${branch}\` stays: somebody has moved it`;
}
