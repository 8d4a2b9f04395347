import { toRfc3339 } from '../../../core/base/clock.ts';
import { printable } from '../../../core/base/printable.ts';
import type { PatchFile } from '../../../core/contract/patch-set.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { patchUndoing } from '../../../engine/patch/patch-undoing.ts';
import { undoContract } from '../../../engine/run/draft/undo-contract.ts';
import { dirtyPaths } from '../../../engine/vcs/dirty-paths.ts';
import { openRepository, type Repository } from '../../../engine/vcs/repository.ts';
import { isAncestor, resolveBase } from '../../../engine/vcs/resolve-commit.ts';
import { runsOfThread } from '../../thread/session-threads.ts';
import { contractOf } from '../review/contract-of.ts';
import { findRunOf } from '../review/find-run-of.ts';
import { isSealedBy } from '../review/is-sealed-by.ts';
import type { TurnScope } from '../turn-scope.ts';

/** A run that can be taken back as things are now, and the change that does it. */
export interface Undoable {
  readonly view: RunView;
  readonly commit: string;
  readonly bytes: Buffer;
  readonly files: readonly PatchFile[];
  readonly specBytes: Uint8Array;
}

/** Why it cannot be, in words. */
export interface NotUndoable {
  readonly reason: string;
}

/** The run that is meant, or why it is not taken back: never over what somebody has changed by hand since. */
export async function findUndoable(scope: TurnScope, wanted: string): Promise<Undoable | NotUndoable> {
  const { setting, newId } = scope;
  const { repositoryPath, clock } = setting;
  const repository = await openRepository(repositoryPath);
  const { baseRef, createdBy } = await setting.target();
  const tip = await resolveBase(repository, baseRef);
  const view = await pick(scope, repository, tip.commit, wanted);
  if ('reason' in view) return view;
  const { runId, decision, baseCommit } = view;
  const commit = decision?.commitSha ?? '';
  if (tip.commit === undefined || !(await isAncestor(repository, commit, tip.commit)))
    return { reason: `commit ${commit} of run ${runId} is not on \`${printable(baseRef)}\`` };
  const contract = await contractOf(scope, runId);
  if (!(await isSealedBy(repository, view, contract)))
    return { reason: `the record of run ${runId} is not that of commit ${commit}: it says nothing to go by` };
  const undoing = await patchUndoing(repository, { commit, parent: baseCommit }, tip);
  if (undoing === undefined) return { reason: `nothing of run ${runId} is left to be taken back` };
  if (undoing.conflicts !== undefined)
    return { reason: `changed since by later commits, and not taken back: ${listed(undoing.conflicts)}` };
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
    files,
  });
  return { view, commit, bytes, files, specBytes };
}

/** The run that was named, or the last one of the thread that stands and was not taken back. */
async function pick(
  scope: TurnScope,
  repository: Repository,
  tip: string | undefined,
  wanted: string,
): Promise<RunView | NotUndoable> {
  return wanted === '' ? pickLast(scope, repository, tip) : runNamed(scope, wanted);
}

/** The run that `RUN` or `RUN/TASK` means, which has committed something; or why there is none. */
export async function runNamed(scope: TurnScope, wanted: string): Promise<RunView | NotUndoable> {
  const [named = '', task] = wanted.split('/');
  const { view } = (await findRunOf(scope, named)) ?? {};
  if (view === undefined) return { reason: `there is no run \`${named}\` here` };
  if (view.decision?.type !== 'commit') return { reason: `run ${view.runId} has committed nothing` };
  return task === undefined ? view : ofTask(scope, view, task);
}

/** What the tasks of a run made is one commit: one of several is not told apart in it any more. */
function ofTask({ state }: TurnScope, view: RunView, task: string): RunView | NotUndoable {
  const { runId } = view;
  const own = state().tasks.filter(({ id }) => id.startsWith(`${runId}/`));
  if (!own.some(({ id }) => id === `${runId}/${task}`))
    return { reason: `run ${runId} has no task \`${task}\`` };
  const works = own.filter(({ title = '' }) => !title.startsWith('gate-'));
  if (works.length === 1 && works[0]?.title === task) return view;
  return {
    reason: `the ${works.length} tasks of run ${runId} are one commit: \`/undo ${runId}\` takes all of it back`,
  };
}

async function pickLast(
  scope: TurnScope,
  repository: Repository,
  tip: string | undefined,
): Promise<RunView | NotUndoable> {
  const { ground, undos } = scope.state();
  const over = new Set(undos.map(({ by }) => by));
  for (const runId of (await runsOfThread(repository, ground.threadId)).toReversed()) {
    if (over.has(runId)) continue;
    const { view } = (await findRunOf(scope, runId)) ?? {};
    const commit = view?.decision?.type === 'commit' ? view.decision.commitSha : undefined;
    if (view === undefined || commit === undefined || tip === undefined) continue;
    if (!(await isAncestor(repository, commit, tip))) continue;
    if (!(await isTakenBack(scope, runId))) return view;
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

const maxListed = 10;

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, maxListed).map((path) => `\`${printable(path)}\``);
  const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
  return `${shown.join(', ')}${more}`;
}
