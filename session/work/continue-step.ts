import { confirmIntent } from '../../api/intent/confirm-intent.ts';
import { readDraft } from '../../engine/run/draft/kept-draft.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { heldSubject } from '../state/held/held-question.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import { localChangesAnswer, localChangesSubject } from '../state/local-changes-question.ts';
import { pursuedGoal } from '../state/pursued-goal.ts';
import { undoSubject } from '../state/undo-question.ts';
import { repairs } from '../state/work.ts';
import { draftStep, reviewSubject } from './draft-step.ts';
import { pursueStep, resumePursued } from './goal/pursue-step.ts';
import { requireVerifiable } from './goal/require-verifiable.ts';
import { holdEdits } from './hold-edits.ts';
import { keepLocalChanges } from './local-changes.ts';
import { choiceSubject, type MadePlan, makePlan, planStep, requireDraft, unrepaired } from './plan-step.ts';
import { heldStep } from './review/held-step.ts';
import { type Execution, resumeStep, runStep } from './run-step.ts';
import type { StepEnd, TurnScope } from './turn-scope.ts';
import { undoAnswered } from './undo/undo-step.ts';

/** An answer that a turn goes on with. */
export interface Continuation {
  readonly subject: string;
  readonly option: string;
  readonly given: GivenAnswer;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * What an answer makes of a turn that waited for it. Everything it needs is in the session's facts and on disk: it may
 * be another process that asked.
 */
export async function continueStep(scope: TurnScope, answer: Continuation): Promise<StepEnd> {
  const { subject, option, given } = answer;
  const { state, setting } = scope;
  if (subject.startsWith(reviewSubject)) {
    const { draft } = state();
    if (draft === undefined) throw new TypeError('an answer to a draft that there is not');
    if (option === 'modify') return draftStep(scope, [...draft.said, given.note ?? '']);
    const { networkAccess, engine, repositoryPath } = setting;
    const repository = await openRepository(repositoryPath, { onlyReads: true });
    const kept = requireDraft(readDraft(repository, draft.runId), draft.runId);
    await holdEdits(scope, repository, kept);
    const stopped = await requireVerifiable(scope, kept.specBytes);
    if (stopped !== undefined) return stopped;
    await confirmIntent(engine, repositoryPath, kept.specBytes);
    const wish = { runId: draft.runId, remarks: [], repair: unrepaired, networkAccess };
    // What a goal may use up is granted with its plan.
    if (!setting.executesUnasked || pursuedGoal(state()) !== undefined) return planStep(scope, wish);
    const { plan } = await makePlan(scope, wish);
    return runStep(scope, { plan, networkAccess, notes: {} });
  }
  if (subject.startsWith(undoSubject)) return undoAnswered(scope, { subject, given });
  if (subject.startsWith(heldSubject)) return heldStep(scope, { given });
  if (subject.startsWith(localChangesSubject)) return localChangesAnswered(scope, answer);
  // Others may have been made since it was asked about.
  const asked = subject.startsWith(choiceSubject) ? subject.slice(choiceSubject.length) : undefined;
  const plan = state().plans.findLast(
    (one): one is MadePlan & typeof one => one.run !== undefined && (asked === undefined || one.id === asked),
  );
  if (plan === undefined) throw new TypeError('an answer to a plan that there is not');
  if (asked !== undefined) return choose(scope, plan, answer);
  // Who asked about a tool call is gone: its run goes on, and asks again.
  const { run } = state();
  if (run === undefined) return { end: 'failed', reason: 'nobody waits for this answer any more' };
  return pursuedGoal(state()) === undefined ? resumeStep(scope, run, plan) : resumePursued(scope, run, plan);
}

/**
 * The process that asked about local changes is gone: the run goes on with the answer, or its draft is planned with it.
 */
async function localChangesAnswered(scope: TurnScope, { subject, given }: Continuation): Promise<StepEnd> {
  const runId = subject.slice(localChangesSubject.length);
  const choice = await keepLocalChanges(scope, runId, localChangesAnswer(given));
  if (choice === 'stop')
    return { end: 'failed', reason: 'local changes are in the way: commit or stash them' };
  const { run, plans } = scope.state();
  const plan = plans.findLast((one): one is MadePlan & typeof one => one.run?.runId === runId);
  if (run !== undefined && plan !== undefined)
    return pursuedGoal(scope.state()) === undefined
      ? resumeStep(scope, run, plan)
      : resumePursued(scope, run, plan);
  const { networkAccess } = scope.setting;
  return planStep(scope, { runId, remarks: [], repair: unrepaired, networkAccess });
}

function choose(
  scope: TurnScope,
  plan: MadePlan,
  { option, given, metadata }: Continuation,
): Promise<StepEnd> {
  const networkAccess = metadata.networkAccess === 'allow' ? 'allow' : 'deny';
  const notes = given.answers ?? {};
  const limit = Number(metadata.repairLimit ?? plan.run.repair.limit);
  if (option === 'execute') {
    const repair = { attempt: plan.run.repair.attempt, limit: Math.min(limit, repairs.cap) };
    const execution: Execution = { plan: { ...plan, run: { ...plan.run, repair } }, networkAccess, notes };
    return pursuedGoal(scope.state()) === undefined
      ? runStep(scope, execution)
      : pursueStep(scope, execution);
  }
  const remarks = [
    `The plan before this one:\n${plan.steps.map(({ step }) => `- ${step}`).join('\n')}`,
    ...Object.entries(notes).flatMap(([id, texts]) =>
      texts.map(
        (text) => `The person says on "${plan.steps.find((one) => one.id === id)?.step ?? id}":\n${text}`,
      ),
    ),
    ...(given.note === undefined ? [] : [`The person says of it:\n${given.note}`]),
  ];
  return planStep(scope, { runId: plan.run.runId, remarks, repair: plan.run.repair, networkAccess });
}
