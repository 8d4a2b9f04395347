/** Keeps, reduces or discards a held change. */
import { confirmIntent } from '../../api/intent/lifecycle.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { withOwnId } from '../../engine/draft/draft-intent.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import { dropHeld, landHeld } from '../../engine/seal/move-target.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { readRef } from '../../workspace/git/refs.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { patchWithout } from '../../workspace/patch/patch-paths.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import { type HeldChoice, heldQuestionId, rejectedHunks } from '../state/questions.ts';
import type { HeldEnd, HeldReview, RunOutcome } from '../state/work.ts';
import { madePlans } from './plan-step.ts';
import { localChangesOfHeld } from './reply-pieces.ts';
import {
  contractOf,
  findRunOf,
  holdStep,
  isHeldRun,
  isSealedBy,
  promptForHeld,
  reportPatchRun,
} from './run-outcome.ts';
import { settle } from './run-step.ts';
import { patchOfRun } from './to-changes.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { sendReviewed, untoldReviews } from './untold.ts';

/**
 * Performs the answer about a held change. Each step can be repeated: after a kill the question is shown again, and
 * finished steps are recognised.
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
  // A process may also have stopped after the branch moved. Then the change is kept, whatever the answer.
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
  if (view === undefined) return promptOnceMore(scope, held, noRecord(held));
  const { repositoryPath, clock } = scope.setting;
  const { localChanges: choice } = await localChangesOfHeld(scope, held);
  const local = { choice, atMs: clock.now(), included: view.localChanges };
  const landed = await landHeld(await openRepository(repositoryPath), held, view, local);
  if ('lost' in landed) {
    const again = `writ seal --range ${nameOf(held.target.ref)}..${nameOf(held.branch)}`;
    return promptOnceMore(
      scope,
      held,
      `nothing has moved: ${landed.lost}. \`${again}\` evaluates the change on the new tip; discard it here afterwards`,
    );
  }
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
 * The record of a held change, if it proves the commit. Without it the commit could not be verified; a record that
 * differs may come from a remote.
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
  if ((await recordOf(scope, held)) === undefined) return promptOnceMore(scope, held, noRecord(held));
  const rejected = rejectedHunks(scope.state(), held.patchset);
  const left = await runLeft(scope, held, rejected);
  if (left === undefined)
    return finish(scope, held, discarded(held, 'every hunk is rejected: nothing is committed'));
  const view = await runAnew(scope, held, left, rejected);
  if (view.decision?.type === 'commit') return takenOut(scope, held, view);
  const why = view.decision?.rationale ?? 'nothing was decided';
  if (view.waiting === undefined)
    return promptOnceMore(scope, held, `what is left was not accepted: ${why}; \`writ show ${view.runId}\``);
  await scope.note(
    'Review',
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
  /** The session's outcome, if it differs from the outcome of the held run. */
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

/** Drops the holding branch, records the end, and adds it to the dialogue of the model. */
async function finish(scope: TurnScope, held: HeldReview, ending: Ending): Promise<StepEnd> {
  const { setting, state, emit, newId } = scope;
  const { end, text, toModel, outcome } = ending;
  const repository = await openRepository(setting.repositoryPath);
  const stays = await dropHeld(repository, held).catch(messageOf);
  const shown = state().patchsets.find(({ id }) => id === held.patchset);
  if (shown !== undefined) {
    const { updatedAtMs: _, ...patchset } = shown;
    await emit({
      type: 'patched',
      patchset: { ...patchset, status: end === 'kept' ? 'accepted' : 'rejected' },
      isWhole: true,
    });
  }
  const add = (said: string, by: string): string => (stays === undefined ? said : `${said}${by}${stays}`);
  await emit({
    type: 'noted',
    id: newId(),
    title: 'Review',
    text: add(text, '\n'),
    ...(outcome === undefined ? {} : { outcome: { ...outcome, why: add(outcome.why, '; ') } }),
  });
  await emit({ type: 'review-ended', end });
  const said = untoldReviews(scope, 'talk');
  const words = said === undefined ? toModel : `${toModel}\n\n${said.text}`;
  await sendReviewed(scope, { text: words, ids: said?.ids ?? [] }, 'talk');
  return { end: end === 'discarded' ? 'done' : 'decided' };
}

async function promptOnceMore(scope: TurnScope, held: HeldReview, why: string): Promise<'waits'> {
  await scope.note('Review', why);
  return promptForHeld(scope, held);
}

function nameOf(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** The patch of a held change without the rejected hunks. `undefined` if no hunk is left. */
async function runLeft(
  { setting }: Pick<TurnScope, 'setting'>,
  { runId, patchset }: HeldReview,
  rejected: readonly string[],
): Promise<Buffer | undefined> {
  const diff = await patchOfRun(setting.engine, setting, runId);
  if (diff === undefined)
    throw new WritError('RUN_NOT_FOUND', {
      message: 'the patch of the run is no longer stored, so parts of it cannot be removed',
      detail: { run_id: runId },
    });
  // The patch is not the one that was reviewed.
  if (sha256Hex(diff) !== patchset)
    throw new WritError('OBJECT_CORRUPT', {
      message: 'the patch of the run is not the one that was reviewed',
      detail: { run_id: runId, expected: patchset },
    });
  const left = patchWithout(diff, new Set(rejected));
  return left.length === 0 ? undefined : left;
}

/**
 * Runs and seals the remaining patch under the same spec with another id; the reviewer is its author. A run that was
 * begun for the same hunks is resumed.
 */
async function runAnew(
  scope: TurnScope,
  held: HeldReview,
  left: Buffer,
  rejected: readonly string[],
): Promise<RunView> {
  const { setting, emit } = scope;
  const { engine, repositoryPath } = setting;
  const { anew } = held;
  const isSame = anew !== undefined && anew.rejected.join() === rejected.join();
  const begun = isSame ? await findRunOf(scope, anew.runId) : undefined;
  const { localChanges } = await localChangesOfHeld(scope, held);
  // The patch has the included local changes that were reviewed; including them again would restore rejected hunks.
  const local = localChanges === 'include' ? 'set-aside' : localChanges;
  const settings = { ...settingsOfRun(scope), ...(local === undefined ? {} : { localChanges: local }) };
  if (begun !== undefined && begun.view.state !== 'decided') {
    const view = await resumeRun(engine, { ...settings, runId: begun.view.runId });
    return reportPatchRun(scope, view);
  }
  const specBytes = withOwnId(await contractOf(scope, held.runId), scope.newId());
  const runId = scope.newId();
  await emit({ type: 'review-anew', runId, rejected });
  await emit({ type: 'run-began', runId });
  await confirmIntent(engine, repositoryPath, specBytes);
  const view = await runIntent(engine, {
    ...settings,
    runId,
    specBytes,
    source: { kind: 'patch', bytes: left },
    onto: held.target.ref,
    message: await commitMessage(scope, held, rejected.length),
  });
  return reportPatchRun(scope, view);
}

/** The subject of the held commit, and what is missing of it. */
async function commitMessage(
  { setting }: TurnScope,
  { commit, runId }: HeldReview,
  count: number,
): Promise<string> {
  const repository = await openRepository(setting.repositoryPath);
  const args = ['log', '-1', '--no-show-signature', '--format=%s', '--end-of-options', commit];
  const subject = await gitLine(repository, args);
  return `${subject}\n\nOf run ${runId}, without ${count} ${count === 1 ? 'hunk' : 'hunks'} that a person rejected.`;
}

/** Shows the question about the held change again, or for the first time if its run was sealed since. */
export async function reviewStep(scope: TurnScope): Promise<StepEnd> {
  const { held, heldRun } = scope.state();
  if (held !== undefined) return promptForHeld(scope, held);
  if (heldRun === undefined) throw new TypeError('a review of nothing');
  const { runId } = heldRun;
  const { view } = (await findRunOf(scope, runId)) ?? {};
  const plan = madePlans(scope.state()).find(({ id }) => id === heldRun.plan);
  if (view !== undefined && view.state !== 'decided')
    return {
      end: 'failed',
      reason: `run ${runId} has not ended: \`writ resume ${runId}\`, then \`/review\``,
    };
  if (view === undefined || plan === undefined || !isHeldRun(scope, view)) {
    await scope.emit({ type: 'review-ended', end: 'discarded' });
    return { end: 'failed', reason: `run ${runId} has made no change that could be reviewed` };
  }
  await settle(scope, plan, view);
  return holdStep(scope, view);
}
