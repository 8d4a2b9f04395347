/** Decides what happens to local changes in the way of a run. */
import { keepDraft, readDraft } from '../../engine/draft/kept-draft.ts';
import type { RunSettings } from '../../engine/state/run-request.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import { localChangesAnswer, localChangesQuestion } from '../state/questions.ts';
import type { HeldReview } from '../state/work.ts';
import type { TurnScope } from './turn-scope.ts';

/**
 * What a plan and its runs do about local changes: the choice that is kept with the draft, else the option of the
 * session, else the answer of the person to a question. Option and answer are kept with the draft. Without a person
 * (the approval policy `never`, a program that controls the session) there is no question, and they stop the run.
 */
export async function localChangesOfDraft(
  scope: TurnScope,
  runId: string,
): Promise<Pick<RunSettings, 'localChanges' | 'askLocalChanges'>> {
  const { run, approval, repositoryPath } = scope.setting;
  const kept = readDraft(await openRepository(repositoryPath), runId)?.localChanges;
  if (kept !== undefined) return { localChanges: kept };
  if (run.localChanges !== undefined)
    return { localChanges: await keepLocalChanges(scope, runId, run.localChanges) };
  if (approval.policy === 'never' || scope.state().lease?.kind === 'automation') return {};
  return { askLocalChanges: (dirty) => askLocalChanges(scope, runId, dirty) };
}

/** The same for a held change, whose plan may have been drafted as another run. */
export function localChangesOfHeld(
  scope: TurnScope,
  held: HeldReview,
): Promise<Pick<RunSettings, 'localChanges' | 'askLocalChanges'>> {
  const plan = scope.state().plans.find(({ id }) => id === held.plan);
  return localChangesOfDraft(scope, plan?.run?.runId ?? held.runId);
}

async function askLocalChanges(
  scope: TurnScope,
  runId: string,
  dirty: readonly DirtyPath[],
): Promise<LocalChanges> {
  const { given } = await scope.ask(localChangesQuestion(runId, dirty));
  return keepLocalChanges(scope, runId, localChangesAnswer(given));
}

/** Keeps the choice with the draft, so that the plan, its runs and their repairs use it. `stop` is not kept. */
export async function keepLocalChanges(
  { setting }: Pick<TurnScope, 'setting'>,
  runId: string,
  localChanges: LocalChanges,
): Promise<LocalChanges> {
  if (localChanges === 'stop') return localChanges;
  const repository = await openRepository(setting.repositoryPath);
  const draft = readDraft(repository, runId);
  if (draft !== undefined) await keepDraft(repository, { ...draft, localChanges });
  return localChanges;
}
