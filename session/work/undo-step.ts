/** Undoes a run, or one task of it. */
import { confirmIntent } from '../../api/intent/lifecycle.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { type TaskUndoing, taskUndoing, undoContract, workTasksOf } from '../../engine/draft/undo.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { RunStore } from '../../store/stores.ts';
import { commitsTouching } from '../../workspace/git/commit-log.ts';
import { dirtyPaths } from '../../workspace/git/dirty-paths.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { type Base, isAncestor, resolveBase } from '../../workspace/git/resolve-commit.ts';
import { patchUndoing, type Undoing } from '../../workspace/patch/undo.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import { undoQuestion, undoQuestionId, undoSubject } from '../state/questions.ts';
import type { UndoneRun } from '../state/work.ts';
import { runsOfThread } from '../thread/read-thread.ts';
import { contractOf, findRunOf, isSealedBy, promptForHeld, reportPatchRun } from './run-outcome.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { sendReviewed } from './untold.ts';
import { verifyOffline } from './verify-step.ts';

/** Prompts with the files that an undo would change. For a held change the question about it is shown instead. */
export async function undoStep(scope: TurnScope, wanted: string): Promise<StepEnd> {
  const { held } = scope.state();
  if (held !== undefined) {
    // The beginning of its id may be that of others.
    const named = wanted.startsWith('/') ? `${held.runId}${wanted}` : wanted;
    const meant = wanted === '' ? { view: held } : await runNamed(scope, named);
    if ('reason' in meant) return refused(scope, meant.reason);
    // A single task of a held change cannot be undone: its hunks can be rejected.
    const isWhole = !('task' in meant);
    if (meant.view.runId === held.runId && isWhole) return promptForHeld(scope, held);
    return refused(scope, `a change is held, and not yet reviewed: that of run ${held.runId}`);
  }
  const found = await findUndoable(scope, wanted);
  if ('reason' in found) return refused(scope, found.reason);
  const { view, task, commit, files } = found;
  await scope.emit({
    type: 'ask',
    ...undoQuestion({
      runId: view.runId,
      ...(task === undefined ? {} : { task }),
      commit,
      summary: view.spec.summary,
      files: files.map(({ path, changeType }) => ({ path, changeType })),
      // The work of a single task starts from them: they are in none.
      ...(task === undefined && view.localChanges && { included: view.localChanges.paths }),
    }),
  });
  return 'waits';
}

/** Undoes the run by a new run over the reverse patch. Conflicts are not forced. */
export async function undoAnswered(
  scope: TurnScope,
  { subject, given }: { readonly subject: string; readonly given: GivenAnswer },
): Promise<StepEnd> {
  const [choice] = given.answers?.[undoQuestionId] ?? [];
  if (choice !== 'undo') return { end: 'done' };
  const { setting, emit, newId } = scope;
  const { engine, repositoryPath } = setting;
  const undone = subject.slice(undoSubject.length);
  const found = await findUndoable(scope, undone);
  if ('reason' in found) return refused(scope, found.reason);
  const { bytes, specBytes, commit, view: before } = found;
  const { of } = wordsOf(undone);
  const runId = newId();
  await emit({ type: 'undo-began', run: undone, by: runId });
  await emit({ type: 'run-began', runId });
  await confirmIntent(engine, repositoryPath, specBytes);
  const view = await runIntent(engine, {
    ...settingsOfRun(scope),
    runId,
    specBytes,
    source: { kind: 'patch', bytes },
    message: `Undo ${of}"${before.spec.summary}"\n\nTakes back ${of}${commit} of run ${before.runId}.`,
  });
  return endUndo(scope, { undone, before, by: view });
}

/** Goes on with the run of an undo that a killed process left, or records how it ended. */
export async function resumeUndo(
  scope: TurnScope,
  { run: undone, by }: UndoneRun,
  ended?: RunView,
): Promise<StepEnd> {
  const { engine } = scope.setting;
  const view = ended ?? (await resumeRun(engine, { ...settingsOfRun(scope), runId: by }));
  const [run = ''] = undone.split('/');
  const before = (await findRunOf(scope, run))?.view;
  if (before !== undefined) return endUndo(scope, { undone, before, by: view });
  await reportPatchRun(scope, view);
  return { end: 'done' };
}

/** Records how the run of an undo ended. `undone`: a run or a task of it. */
async function endUndo(
  scope: TurnScope,
  { undone, before, by: view }: { readonly undone: string; readonly before: RunView; readonly by: RunView },
): Promise<StepEnd> {
  const { of, change } = wordsOf(undone);
  await reportPatchRun(scope, view);
  const { decision, waiting, runId } = view;
  const why = decision?.rationale ?? 'nothing was decided';
  if (waiting !== undefined) {
    await scope.note('Undo', `it waits for people: \`writ approve ${runId}\`, then \`writ resume ${runId}\``);
    return { end: 'done' };
  }
  if (decision?.type !== 'commit')
    return refused(scope, `nothing was taken back: ${why}; \`writ show ${runId}\``);
  await scope.note('Undo', `run ${runId} takes back ${of}run ${before.runId}`);
  const text = `The person has undone ${change} "${before.spec.summary}": nothing of it is in the repository any more.`;
  await sendReviewed(scope, { text, ids: [] }, 'talk');
  return { end: 'decided' };
}

/** What an undo takes back, in words. */
function wordsOf(undone: string): { readonly of: string; readonly change: string } {
  const [, task] = undone.split('/');
  if (task === undefined) return { of: '', change: 'your change' };
  return { of: `task ${task} of `, change: `what task \`${task}\` did of your change` };
}

async function refused(scope: TurnScope, reason: string): Promise<StepEnd> {
  await scope.note('Undo', reason);
  return { end: 'done' };
}

/** A run, or one task of it, that can be undone now, with the reverse change. */
interface Undoable {
  readonly view: RunView;
  /** Of several of the run; absent: all that the run did. */
  readonly task?: string;
  readonly commit: string;
  readonly bytes: Buffer;
  readonly files: readonly PatchFile[];
  readonly specBytes: Uint8Array;
}

/** Why it cannot be, in words. */
interface NotUndoable {
  readonly reason: string;
}

/** What is meant: a run and, where it is one of several, its Task. */
interface Picked {
  readonly view: RunView;
  readonly store: RunStore;
  readonly task?: string;
}

/** Finds the run to undo, or why it cannot be undone: later local edits are never overwritten. */
async function findUndoable(scope: TurnScope, wanted: string): Promise<Undoable | NotUndoable> {
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
  // The states between two tasks are in no commit; only the seal proves them.
  const { refusal } = await verifyOffline(scope, runId);
  if (refusal !== undefined)
    return { reason: `run ${runId} is not verified, and no task of it is taken back alone: ${refusal}` };
  const found = await taskUndoing(repository, store, { runId, commit, task }, tip);
  return found.kind === 'patch' ? found.undoing : { reason: whyNotTask(runId, task, found) };
}

/** `RUN`, `RUN/TASK` or `/TASK`; without a run it is the last commit of the thread that was not undone. */
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

/** Resolves `RUN` or `RUN/TASK` to a run with a commit, or returns the reason why there is none. */
async function runNamed(scope: TurnScope, wanted: string): Promise<Picked | NotUndoable> {
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
  return { reason: 'this thread has committed nothing that is still there' };
}

async function isTakenBack(scope: TurnScope, runId: string): Promise<boolean> {
  for (const { run, by } of scope.state().undos) {
    if (run !== runId) continue;
    if ((await findRunOf(scope, by))?.view.decision?.type === 'commit') return true;
  }
  return false;
}

export function whyNotTask(
  runId: string,
  task: string,
  found: Exclude<TaskUndoing, { readonly kind: 'patch' }>,
): string {
  const whole = `\`/undo ${runId}\` takes all of it back`;
  switch (found.kind) {
    case 'unchanged':
      return `task \`${task}\` has changed nothing in the commit of run ${runId}`;
    case 'nothing':
      return `nothing of task \`${task}\` of run ${runId} is left to be taken back`;
    case 'untold':
      return `the tasks of run ${runId} are one commit, and its record does not say what each of them changed: ${whole}`;
    case 'gone':
      return `what each task of run ${runId} changed is not kept any more: ${whole}`;
    case 'refuted':
      return `what the record of run ${runId} says of its tasks does not bear its commit (${printable(found.why)}), and no task of it is taken back: \`/verify ${runId}\``;
    case 'built-upon': {
      const [last] = found.tasks.slice(-1);
      const by = last === undefined ? '' : ` (${listed(found.tasks)})`;
      // Tasks can be undone one by one, the last one first.
      const first =
        last === undefined ? '' : `take that back first (\`/undo ${runId} ${printable(last)}\`), or `;
      return `changed since by later tasks of run ${runId}${by}, and not taken back: ${listed(found.paths)}; ${first}${whole}`;
    }
  }
}

const maxListed = 10;

/** Names, the first of them. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map((name) => `\`${printable(name)}\``);
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  return `${shown.join(', ')}${more}`;
}
