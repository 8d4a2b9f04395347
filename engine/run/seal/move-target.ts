import { messageOf } from '../../../core/base/errors.ts';
import type { PatchFile } from '../../../core/contract/patch-set.ts';
import { dirtyPaths } from '../../vcs/dirty-paths.ts';
import { finishFollow } from '../../vcs/finish-follow.ts';
import type { Target } from '../../vcs/plan-target.ts';
import { readRef } from '../../vcs/refs.ts';
import type { Repository } from '../../vcs/repository.ts';
import {
  type AroundOutcome,
  dropSetAside,
  followAround,
  type LocalChanges,
  localChangesOf,
  storeSetAside,
  stuckPaths,
} from '../../vcs/set-aside.ts';
import { readSetAside } from '../../vcs/set-aside-refs.ts';
import { followWorktree, swapTarget } from '../../vcs/swap-target.ts';
import type { SealingFault } from '../record/decision-input.ts';

/** A sealed commit on its way to the branch that it is for. */
export interface TargetMove {
  readonly runId: string;
  readonly target: Target;
  readonly commit: string;
  readonly files: readonly Pick<PatchFile, 'path' | 'oldPath' | 'changeType' | 'oldMode' | 'newMode'>[];
  /** Whose policy judged the change: as the run knows it. */
  readonly policy: { readonly ref?: string | undefined; readonly commit: string | undefined };
  /** In what time somebody else may have changed something. */
  readonly when: string;
  /** What happens to local changes at these paths. */
  readonly local?: { readonly choice: LocalChanges | undefined; readonly atMs: number };
}

/**
 * The one move that the person sees. A target that stands at our commit was moved by an earlier process of this very
 * run.
 */
export async function moveTarget(
  repository: Repository,
  { runId, target, commit, files, policy, when, local }: TargetMove,
): Promise<{ lost?: string; by?: SealingFault }> {
  if ((await readRef(repository, target.ref)) === commit) return {};
  const dirty = target.checkedOutHere ? await dirtyPaths(repository, files) : [];
  const isSetAside = (await localChangesOf(repository, runId, local?.choice)) === 'set-aside';
  const stuck = isSetAside ? await stuckPaths(repository, target, dirty) : dirty;
  if (stuck.length > 0) {
    const paths = stuck.slice(0, 5).map(({ path }) => `\`${path}\``);
    return { lost: `${paths.join(', ')} changed in the working tree ${when}`, by: 'changed-under-us' };
  }
  if (isSetAside && dirty.length > 0 && target.expected !== undefined)
    await storeSetAside(repository, {
      runId,
      base: target.expected,
      paths: dirty.map(({ path }) => path),
      atMs: local?.atMs ?? 0,
    });
  const { ref, commit: judgedBy } = policy;
  const held = ref === undefined || judgedBy === undefined ? undefined : { ref, commit: judgedBy };
  const swap = await swapTarget(repository, target, commit, `writ: run ${runId}`, held);
  if (swap.moved) return {};
  // No file was touched: what is stored is still in the working tree.
  const stored = await readSetAside(repository, runId);
  if (stored !== undefined) await dropSetAside(repository, runId, stored);
  const stale = swap.stale[0]?.ref ?? target.ref;
  const whose = stale === target.ref ? '' : ', whose policy judged the change,';
  return { lost: `\`${stale}\`${whose} was moved by somebody else ${when}`, by: 'swap-lost' };
}

/**
 * Index and files behind the move; `isAgain`: an earlier process may have been stopped in the middle of it. Local
 * changes that the run set aside are merged back.
 */
export async function followTarget(
  repository: Repository,
  runId: string,
  target: Target,
  commit: string,
  isAgain: boolean,
): Promise<AroundOutcome> {
  try {
    const stored = target.checkedOutHere ? await readSetAside(repository, runId) : undefined;
    if (stored !== undefined) return await followAround(repository, target, commit, { runId, stored });
    return await (isAgain ? finishFollow : followWorktree)(repository, target, commit);
  } catch (fault) {
    // The branch has moved: what hinders the files is told, and undoes nothing.
    return { state: 'failed', reason: messageOf(fault) };
  }
}
