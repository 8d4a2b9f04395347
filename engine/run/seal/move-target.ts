import { messageOf } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { PatchFile } from '../../../core/contract/patch-set.ts';
import { dirtyPaths, touchedBy } from '../../vcs/dirty-paths.ts';
import { finishFollow } from '../../vcs/finish-follow.ts';
import { describeLocal, type IncludedChanges } from '../../vcs/include-local.ts';
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
  readonly local?: {
    readonly choice: LocalChanges | undefined;
    readonly atMs: number;
    /** Local changes that are part of the commit: the working tree must still hold exactly these. */
    readonly included?: Pick<IncludedChanges, 'paths' | 'digest'> | undefined;
  };
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
  const whose = stale === target.ref ? '' : ', whose policy judged the change,';
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
    if (stored !== undefined)
      return await followAround(repository, target, commit, { runId, stored, isIncluded });
    return await (isAgain ? finishFollow : followWorktree)(repository, target, commit);
  } catch (fault) {
    // The branch has moved: what hinders the files is told, and undoes nothing.
    return { state: 'failed', reason: messageOf(fault) };
  }
}
