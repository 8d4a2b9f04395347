import { toRfc3339 } from '../../../core/base/clock.ts';
import { printable } from '../../../core/base/printable.ts';
import type { PatchFile } from '../../../core/contract/patch-set.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { patchUndoing, type Undoing } from '../../../engine/patch/patch-undoing.ts';
import { taskUndoing, workTasksOf } from '../../../engine/run/draft/task-undoing.ts';
import { undoContract } from '../../../engine/run/draft/undo-contract.ts';
import type { RunStore } from '../../../engine/store/run-store.ts';
import { commitsTouching } from '../../../engine/vcs/commits-touching.ts';
import { dirtyPaths } from '../../../engine/vcs/dirty-paths.ts';
import { openRepository, type Repository } from '../../../engine/vcs/repository.ts';
import { type Base, isAncestor, resolveBase } from '../../../engine/vcs/resolve-commit.ts';
import { runsOfThread } from '../../thread/session-threads.ts';
import { contractOf } from '../review/contract-of.ts';
import { findRunOf } from '../review/find-run-of.ts';
import { isSealedBy } from '../review/is-sealed-by.ts';
import type { TurnScope } from '../turn-scope.ts';
import { listed, whyNotTask } from './why-not-task.ts';

/** A run, or one Task of it, that can be taken back as things are now, and the change that does it. */
export interface Undoable {
  readonly view: RunView;
  /** Of several of the run; absent: all that the run did. */
  readonly task?: string;
  readonly commit: string;
  readonly bytes: Buffer;
  readonly files: readonly PatchFile[];
  readonly specBytes: Uint8Array;
}

/** Why it cannot be, in words. */
export interface NotUndoable {
  readonly reason: string;
}

/** What is meant: a run and, where it is one of several, its Task. */
interface Picked {
  readonly view: RunView;
  readonly store: RunStore;
  readonly task?: string;
}

/** What is meant, or why it is not taken back: never over what somebody has changed by hand since. */
export async function findUndoable(scope: TurnScope, wanted: string): Promise<Undoable | NotUndoable> {
  const { setting, newId } = scope;
  const { repositoryPath, clock } = setting;
  const repository = await openRepository(repositoryPath);
  const { baseRef, createdBy } = await setting.target();
  const tip = await resolveBase(repository, baseRef);
  const picked = await pick(scope, repository, tip.commit, wanted);
  if ('reason' in picked) return picked;
  const { view, task } = picked;
  const { runId, decision } = view;
  const commit = decision?.commitSha ?? '';
  if (tip.commit === undefined || !(await isAncestor(repository, commit, tip.commit)))
    return { reason: `commit ${commit} of run ${runId} is not on \`${printable(baseRef)}\`` };
  const contract = await contractOf(scope, runId);
  if (!(await isSealedBy(repository, view, contract)))
    return { reason: `the record of run ${runId} is not that of commit ${commit}: it says nothing to go by` };
  const undoing = await undoingOf(scope, repository, picked, { commit, tip });
  if ('reason' in undoing) return undoing;
  if (undoing.conflicts !== undefined) {
    const { conflicts } = undoing;
    const by = await commitsTouching(repository, { from: commit, to: tip.commit, most: 5 }, conflicts);
    const names = by.map((one) => (one.runId === undefined ? `commit ${one.commit}` : `run ${one.runId}`));
    const who = names.length === 0 ? '' : ` (${[...new Set(names)].join(', ')})`;
    return { reason: `changed since by later commits${who}, and not taken back: ${listed(conflicts)}` };
  }
  const { bytes, files } = undoing;
  const dirty = await dirtyPaths(repository, files);
  if (dirty.length > 0)
    return {
      reason: `changed by hand since, and not run over: ${listed(dirty.map(({ path }) => path))}; commit or restore them, then \`/undo\` again`,
    };
  const specBytes = undoContract(contract, {
    id: newId(),
    createdAt: toRfc3339(clock.now()),
    createdBy,
    baseRef,
    runId,
    ...(task === undefined ? {} : { task }),
    files,
  });
  return { view, ...(task === undefined ? {} : { task }), commit, bytes, files, specBytes };
}

async function undoingOf(
  scope: TurnScope,
  repository: Repository,
  { view, store, task }: Picked,
  { commit, tip }: { readonly commit: string; readonly tip: Base },
): Promise<Undoing | NotUndoable> {
  const { runId } = view;
  if (task === undefined) {
    const undoing = await patchUndoing(repository, commit, tip);
    return undoing ?? { reason: `nothing of run ${runId} is left to be taken back` };
  }
  // What stood between two of its tasks is in no commit: nothing but the seal says that it ever did.
  const { verifyOffline } = await import('../verify/verify-offline.ts');
  const { refusal } = await verifyOffline(scope, runId);
  if (refusal !== undefined)
    return { reason: `run ${runId} is not verified, and no task of it is taken back alone: ${refusal}` };
  const found = await taskUndoing(repository, store, { runId, commit, task }, tip);
  return found.kind === 'patch' ? found.undoing : { reason: whyNotTask(runId, task, found) };
}

/** `RUN`, `RUN/TASK` or `/TASK`; where no run is named it is the last of the thread that stands and was not undone. */
async function pick(
  scope: TurnScope,
  repository: Repository,
  tip: string | undefined,
  wanted: string,
): Promise<Picked | NotUndoable> {
  const [named = '', task] = wanted.split('/');
  if (named !== '') return runNamed(scope, wanted);
  const found = await pickLast(scope, repository, tip);
  return 'reason' in found ? found : ofTask(found, task);
}

/** What `RUN` or `RUN/TASK` means, of a run that has committed something; or why there is none. */
export async function runNamed(scope: TurnScope, wanted: string): Promise<Picked | NotUndoable> {
  const [named = '', task] = wanted.split('/');
  const found = await findRunOf(scope, named);
  return found === undefined ? { reason: `there is no run \`${named}\` here` } : ofTask(found, task);
}

async function ofTask(
  { view, store }: Pick<Picked, 'view' | 'store'>,
  task: string | undefined,
): Promise<Picked | NotUndoable> {
  const { runId, decision } = view;
  if (decision?.type !== 'commit') return { reason: `run ${runId} has committed nothing` };
  if (task === undefined) return { view, store };
  const tasks = await workTasksOf(store, runId);
  if (!tasks.includes(task))
    return { reason: `run ${runId} has no task \`${task}\`; it has ${listed(tasks)}` };
  // What the only one did is what the run did.
  return tasks.length === 1 ? { view, store } : { view, store, task };
}

async function pickLast(
  scope: TurnScope,
  repository: Repository,
  tip: string | undefined,
): Promise<Picked | NotUndoable> {
  const { ground, undos } = scope.state();
  const over = new Set(undos.map(({ by }) => by));
  for (const runId of (await runsOfThread(repository, ground.threadId)).toReversed()) {
    if (over.has(runId)) continue;
    const found = await findRunOf(scope, runId);
    const { decision } = found?.view ?? {};
    const commit = decision?.type === 'commit' ? decision.commitSha : undefined;
    if (found === undefined || commit === undefined || tip === undefined) continue;
    if (!(await isAncestor(repository, commit, tip))) continue;
    if (!(await isTakenBack(scope, runId))) return found;
  }
  return { reason: 'this thread has committed nothing that stands' };
}

async function isTakenBack(scope: TurnScope, runId: string): Promise<boolean> {
  for (const { run, by } of scope.state().undos) {
    if (run !== runId) continue;
    if ((await findRunOf(scope, by))?.view.decision?.type === 'commit') return true;
  }
  return false;
}
