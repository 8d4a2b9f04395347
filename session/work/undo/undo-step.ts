import { confirmIntent } from '../../../api/intent/confirm-intent.ts';
import { runIntent } from '../../../engine/run/run-intent.ts';
import type { GivenAnswer } from '../../state/interaction.ts';
import { undoQuestion, undoQuestionId, undoSubject } from '../../state/undo-question.ts';
import { askHeld } from '../review/hold-run.ts';
import { tellMade } from '../review/tell-made.ts';
import { tellReviewed } from '../tell-reviews.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { findUndoable, runNamed } from './find-undoable.ts';

/**
 * Lists what taking back a run would touch, and asks. Of a change that is only held it is asked what becomes of it: it
 * is nowhere yet, and what is discarded is gone.
 */
export async function undoStep(scope: TurnScope, wanted: string): Promise<StepEnd> {
  const { held } = scope.state();
  if (held !== undefined) {
    // The beginning of its id may be that of others.
    const named = wanted.startsWith('/') ? `${held.runId}${wanted}` : wanted;
    const meant = wanted === '' ? { view: held } : await runNamed(scope, named);
    if ('reason' in meant) return refused(scope, meant.reason);
    // Of one that is held no single task is taken back: it is nowhere yet, and its hunks are there to be rejected.
    const isWhole = !('task' in meant);
    if (meant.view.runId === held.runId && isWhole) return askHeld(scope, held);
    return refused(scope, `a change is held, and not yet reviewed: that of run ${held.runId}`);
  }
  const found = await findUndoable(scope, wanted);
  if ('reason' in found) return refused(scope, found.reason);
  const { view, task, commit, files } = found;
  await scope.tell({
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

/** Takes it back by a run over the reverse patch, as things are now; nothing is forced. */
export async function undoAnswered(
  scope: TurnScope,
  { subject, given }: { readonly subject: string; readonly given: GivenAnswer },
): Promise<StepEnd> {
  const [choice] = given.answers?.[undoQuestionId] ?? [];
  if (choice !== 'undo') return { end: 'done' };
  const { setting, signal, tell, newId } = scope;
  const { engine, repositoryPath, sandbox, clock } = setting;
  const undone = subject.slice(undoSubject.length);
  const found = await findUndoable(scope, undone);
  if ('reason' in found) return refused(scope, found.reason);
  const { bytes, specBytes, commit, task, view: before } = found;
  const [of, change] =
    task === undefined
      ? ['', 'your change']
      : [`task ${task} of `, `what task \`${task}\` did of your change`];
  const runId = newId();
  await tell({ type: 'undo-began', run: undone, by: runId });
  await tell({ type: 'run-began', runId });
  await confirmIntent(engine, repositoryPath, specBytes);
  const view = await runIntent(engine, {
    ...setting.run,
    clock,
    signal,
    repositoryPath,
    sandbox,
    runId,
    specBytes,
    source: { kind: 'patch', bytes },
    message: `Undo ${of}"${before.spec.summary}"\n\nTakes back ${of}${commit} of run ${before.runId}.`,
  });
  await tellMade(scope, view);
  const { decision, waiting } = view;
  const why = decision?.rationale ?? 'nothing was decided';
  if (waiting !== undefined) {
    await note(scope, `it waits for people: \`writ approve ${runId}\`, then \`writ resume ${runId}\``);
    return { end: 'done' };
  }
  if (decision?.type !== 'commit')
    return refused(scope, `nothing was taken back: ${why}; \`writ show ${runId}\``);
  await note(scope, `run ${runId} takes back ${of}run ${before.runId}`);
  const text = `The person has undone ${change} "${before.spec.summary}": nothing of it is in the repository any more.`;
  await tellReviewed(scope, { text, ids: [] }, 'talk');
  return { end: 'decided' };
}

async function refused(scope: TurnScope, reason: string): Promise<StepEnd> {
  await note(scope, reason);
  return { end: 'done' };
}

async function note({ tell, newId }: TurnScope, text: string): Promise<void> {
  await tell({ type: 'noted', id: newId(), title: 'Undo', text });
}
