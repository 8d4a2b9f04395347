import { messageOf } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { dropHeld, landHeld } from '../../../engine/seal/move-target.ts';
import { readRef } from '../../../workspace/git/refs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { type HeldChoice, heldQuestionId } from '../../state/held/held-question.ts';
import type { HeldEnd, HeldReview } from '../../state/held/held-review.ts';
import { rejectedHunks } from '../../state/held/judge-held-answer.ts';
import type { GivenAnswer } from '../../state/interaction.ts';
import type { RunOutcome } from '../../state/work.ts';
import { localChangesOfHeld } from '../local-changes.ts';
import { tellReviewed, untoldReviews } from '../tell-reviews.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { contractOf } from './contract-of.ts';
import { findRunOf } from './find-run-of.ts';
import { askHeld } from './hold-run.ts';
import { isSealedBy } from './is-sealed-by.ts';
import { runAnew, runLeft } from './take-out.ts';

/**
 * Does what a person said of a change that is held. Each act may be done again: where a killed process was stopped
 * between two of them, the question is asked again, and what was done is found done.
 */
export async function heldStep(
  scope: TurnScope,
  { given }: { readonly given: GivenAnswer },
): Promise<StepEnd> {
  const { held } = scope.state();
  if (held === undefined) throw new TypeError('an answer to a change that is not held');
  const [choice] = (given.answers?.[heldQuestionId] ?? []) as readonly HeldChoice[];
  // Another process may have been stopped behind the commit of what was left.
  const landed = held.anew === undefined ? undefined : (await findRunOf(scope, held.anew.runId))?.view;
  if (landed?.decision?.type === 'commit') return takenOut(scope, held, landed);
  // Or behind the move of the branch: that is done, whatever is said now.
  const repository = await openRepository(scope.setting.repositoryPath);
  const hasMoved = (await readRef(repository, held.target.ref)) === held.commit;
  if (hasMoved && (await recordOf(scope, held)) !== undefined) return keep(scope, held);
  if (choice === 'keep') return keep(scope, held);
  if (choice === 'take-out') return takeOut(scope, held);
  if (!hasMoved)
    return finish(scope, held, discarded(held, 'the change is discarded: no branch of yours has moved'));
  const text = `the review is over: \`${nameOf(held.target.ref)}\` is on the change already`;
  return finish(scope, held, { end: 'discarded', text, toModel: 'Your change is on its branch.' });
}

async function keep(scope: TurnScope, held: HeldReview): Promise<StepEnd> {
  const view = await recordOf(scope, held);
  if (view === undefined)
    return askOnceMore(
      scope,
      held,
      `nothing has moved: run ${held.runId} has no record of this commit any more`,
    );
  const { repositoryPath, clock } = scope.setting;
  const { localChanges: choice } = await localChangesOfHeld(scope, held);
  const local = { choice, atMs: clock.now(), included: view.localChanges };
  const landed = await landHeld(await openRepository(repositoryPath), held, view, local);
  if ('lost' in landed) return askOnceMore(scope, held, `nothing has moved: ${landed.lost}`);
  const { notice } = landed;
  const told = `${held.commit} is on \`${nameOf(held.target.ref)}\`; \`writ verify ${held.runId}\``;
  return finish(scope, held, {
    end: 'kept',
    text: notice === undefined ? told : `${told}\n${notice}`,
    toModel: 'The person has kept your change: it is committed.',
    outcome: { runId: held.runId, decision: 'commit', why: 'you have kept it', commit: held.commit },
  });
}

/**
 * The record of a held change. What proves it goes with it: a commit of which no record is left could be verified by
 * nobody, and one that says something else may have come from a remote.
 */
async function recordOf(scope: TurnScope, held: HeldReview): Promise<RunView | undefined> {
  const { view } = (await findRunOf(scope, held.runId)) ?? {};
  const { commit, target } = held;
  if (view?.decision?.type !== 'commit' || view.decision.commitSha !== commit) return undefined;
  if (target.expected !== undefined && target.expected !== view.baseCommit) return undefined;
  const repository = await openRepository(scope.setting.repositoryPath);
  return (await isSealedBy(repository, view, await contractOf(scope, held.runId))) ? view : undefined;
}

async function takeOut(scope: TurnScope, held: HeldReview): Promise<StepEnd> {
  if ((await recordOf(scope, held)) === undefined) return askOnceMore(scope, held, noRecord(held));
  const rejected = rejectedHunks(scope.state(), held.patchset);
  const left = await runLeft(scope, held, rejected);
  if (left === undefined)
    return finish(scope, held, discarded(held, 'every hunk is rejected: nothing is committed'));
  const view = await runAnew(scope, held, left, rejected);
  if (view.decision?.type === 'commit') return takenOut(scope, held, view);
  const why = view.decision?.rationale ?? 'nothing was decided';
  if (view.waiting === undefined)
    return askOnceMore(scope, held, `what is left was not accepted: ${why}; \`writ show ${view.runId}\``);
  await note(
    scope,
    `what is left waits for people: \`writ approve ${view.runId}\`, \`writ resume ${view.runId}\`, then \`/review\``,
  );
  return { end: 'done' };
}

function noRecord({ runId }: HeldReview): string {
  return `nothing has moved: run ${runId} has no record of this commit any more`;
}

async function takenOut(scope: TurnScope, held: HeldReview, view: RunView): Promise<StepEnd> {
  const count = scope.state().held?.anew?.rejected.length ?? 0;
  const without = `without ${count} rejected ${count === 1 ? 'hunk' : 'hunks'}`;
  return finish(scope, held, {
    end: 'taken-out',
    text: `run ${view.runId} has committed it ${without}`,
    toModel: `Your change is committed ${without}, which the person took out of it.`,
  });
}

/** What became of a held change, for the person and for the model. */
interface Ending {
  readonly end: HeldEnd;
  readonly text: string;
  readonly toModel: string;
  /** What the session came to by it, where that is another thing than the run that was held. */
  readonly outcome?: RunOutcome;
}

/** The commit that was held is on no branch: what its run decided holds no more. */
function discarded({ runId }: HeldReview, text: string): Ending {
  return {
    end: 'discarded',
    text,
    toModel: 'The person has discarded your change: nothing of it is in the repository.',
    outcome: { runId, decision: 'none', why: text },
  };
}

/** The branch that held it goes; then it is told as over, last of all to the model, in what it gets next. */
async function finish(scope: TurnScope, held: HeldReview, ending: Ending): Promise<StepEnd> {
  const { setting, state, tell, newId } = scope;
  const { end, text, toModel, outcome } = ending;
  const repository = await openRepository(setting.repositoryPath);
  const stays = await dropHeld(repository, held).catch(messageOf);
  const shown = state().patchsets.find(({ id }) => id === held.patchset);
  if (shown !== undefined) {
    const { updatedAtMs: _, ...patchset } = shown;
    await tell({
      type: 'patched',
      patchset: { ...patchset, status: end === 'kept' ? 'accepted' : 'rejected' },
      isWhole: true,
    });
  }
  const add = (said: string, by: string): string => (stays === undefined ? said : `${said}${by}${stays}`);
  await tell({
    type: 'noted',
    id: newId(),
    title: 'Review',
    text: add(text, '\n'),
    ...(outcome === undefined ? {} : { outcome: { ...outcome, why: add(outcome.why, '; ') } }),
  });
  await tell({ type: 'review-ended', end });
  const said = untoldReviews(scope, 'talk');
  const words = said === undefined ? toModel : `${toModel}\n\n${said.text}`;
  await tellReviewed(scope, { text: words, ids: said?.ids ?? [] }, 'talk');
  return { end: end === 'discarded' ? 'done' : 'decided' };
}

async function askOnceMore(scope: TurnScope, held: HeldReview, why: string): Promise<'waits'> {
  await note(scope, why);
  return askHeld(scope, held);
}

async function note({ tell, newId }: TurnScope, text: string): Promise<void> {
  await tell({ type: 'noted', id: newId(), title: 'Review', text });
}

function nameOf(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
