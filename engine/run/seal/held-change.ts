import { WritError } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { changedEntries } from '../../vcs/changed-entries.ts';
import { planTarget, reopenTarget, type Target } from '../../vcs/plan-target.ts';
import { readRef, updateRefs } from '../../vcs/refs.ts';
import { emptyTreeOf, type Repository } from '../../vcs/repository.ts';
import { readHead, resolveBase } from '../../vcs/resolve-commit.ts';
import { dropSetAside } from '../../vcs/set-aside.ts';
import { setAsideNotice } from '../../vcs/set-aside-refs.ts';
import { followNotices } from '../record/follow-notices.ts';
import { followTarget, moveTarget, type TargetMove } from './move-target.ts';

/** A sealed commit that stands on a branch of its own until somebody says whether it goes on to the one it is for. */
export interface HeldChange {
  readonly runId: string;
  readonly commit: string;
  /** Full name of the branch that holds it. */
  readonly branch: string;
  /** The branch that it is for; `expected` as in `Target`. */
  readonly target: Pick<Target, 'ref' | 'expected'>;
}

/** What became of it: on its branch, or why not; nothing has moved then. */
type Landed = { readonly lost: string } | { readonly notice?: string };

/** Below this name the branches stand that hold changes: `writ/review-RUN`. */
const above = 'refs/heads/writ';

/** UNSUPPORTED_OPERATION where a branch stands in the place of the directory of those that hold changes. */
export async function requireHoldable(repository: Repository): Promise<void> {
  if ((await readRef(repository, above)) === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'a branch `writ` stands where `writ/review-RUN` would: git has no branch below another',
    hints: ['rename it (`git branch -m writ OTHER`), then say it again'],
  });
}

/** The branch that a run of this contract would move if nobody held its change (`planTarget`). */
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
 * Moves the branch that a held commit is for, with what a run itself looks at before it moves one: neither that branch
 * nor the policy's has gone on, and no file of the change was touched. Index and files follow. Done again it changes
 * nothing.
 */
export async function landHeld(
  repository: Repository,
  { runId, commit, target: meant }: HeldChange,
  { baseCommit, policyRef: ref, policyCommit }: Pick<RunView, 'baseCommit' | 'policyRef' | 'policyCommit'>,
  local?: TargetMove['local'],
): Promise<Landed> {
  const target = await reopenTarget(repository, meant);
  const entries = await changedEntries(repository, baseCommit ?? emptyTreeOf(repository), commit);
  const files = entries.map(({ path, before, after }) => ({
    path,
    changeType:
      after === undefined
        ? ('delete' as const)
        : before === undefined
          ? ('add' as const)
          : ('modify' as const),
    ...(before === undefined ? {} : { oldMode: before.mode }),
    ...(after === undefined ? {} : { newMode: after.mode }),
  }));
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
 * Takes away the branch that held a commit, once it is needed no more. One that somebody works on, or has put more on,
 * stays: why, in words.
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
