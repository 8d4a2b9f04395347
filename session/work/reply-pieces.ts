/** Reports streamed replies and announced calls of a model. */
import type { ModelEvent } from '../../core/interfaces/model.ts';
import { keepDraft, readDraft } from '../../engine/draft/stored-draft.ts';
import type { RunSettings } from '../../engine/state/run-request.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import type { TurnReport } from '../state/command.ts';
import { localChangesAnswer, localChangesQuestion } from '../state/questions.ts';
import type { HeldReview } from '../state/work.ts';
import type { TurnScope } from './turn-scope.ts';

/**
 * The pieces of a reply as reports under one id, and the whole text so far. If a reply broke or was refused, and its
 * question is put again, or if the text so far was reasoning, the text begins again.
 */
export function replyPieces(
  told: (report: Extract<TurnReport, { readonly type: 'replying' }>) => void,
  newId: () => string,
): { hear(event: ModelEvent): void; id(): string; text(): string; next(): void } {
  let id = newId();
  let text = '';
  let isOver = false;
  return {
    hear(event) {
      if (event.type === 'asked' || event.type === 'end') isOver = text !== '';
      if (event.type === 'reasoned') {
        isOver = text !== '';
        text = '';
      }
      if (event.type !== 'text') return;
      told({ type: 'replying', id, text: event.text, ...(isOver ? { isAnew: true } : {}) });
      text = isOver ? event.text : text + event.text;
      isOver = false;
    },
    id: () => id,
    text: () => text,
    next() {
      id = newId();
      text = '';
      isOver = false;
    },
  };
}

const maxName = 100;
/** Calls of one reply that are announced. */
const maxOpen = 32;

/** Reports the calls that a model is writing. */
export function announcing(
  told: (report: Extract<TurnReport, { readonly type: 'announced' }>) => void,
  newId: () => string,
): (event: ModelEvent) => void {
  let open: readonly string[] = [];
  return (event) => {
    if (event.type === 'calling') {
      const id = newId();
      if (open.length >= maxOpen) return;
      open = [...open, id];
      told({ type: 'announced', id, toolName: event.name.slice(0, maxName).toWellFormed() });
    }
    // A retry discards what the broken reply announced.
    if (event.type !== 'end' && event.type !== 'asked') return;
    for (const id of open) told({ type: 'announced', id });
    open = [];
  };
}

/** Decides what happens to local changes in the way of a run. */

/**
 * Decides how a plan and its runs treat local changes. In order: the choice stored with the draft, the option of the
 * session, the person's answer to a question. Option and answer are stored with the draft. Without a person (approval
 * policy `never`, or a controlling program) there is no question, and local changes stop the run.
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

/** The same for a held change. Its plan may have been drafted as another run. */
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
