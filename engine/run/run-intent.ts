import type { RunView } from '../../core/contract/run-view.ts';
import type { WritEngine } from '../spec/writ-engine.ts';
import { findRun } from '../store/record/find-run.ts';
import { keepObjectReaders } from '../vcs/object-reader.ts';
import { openRepository } from '../vcs/repository.ts';
import { approveInProcess } from './decide/approve-in-process.ts';
import { costLimit } from './decide/cost-limit.ts';
import { tellDecision } from './decide/tell-decision.ts';
import { neededApprovals, waitForPeople } from './decide/wait-for-people.ts';
import { judgeCandidate } from './judge-candidate.ts';
import type { HeldRun } from './open/hold-run.ts';
import { reopenRun } from './open/reopen-run.ts';
import { startRun } from './open/start-run.ts';
import { finalReport } from './record/gate-report.ts';
import type { JudgedRun } from './record/judged-run.ts';
import { newPlanState } from './record/plan-state.ts';
import { readRun } from './record/read-run.ts';
import { openRunFrames } from './record/run-frames.ts';
import { abandon } from './seal/abandon.ts';
import { seal } from './seal/seal.ts';
import type { Attempt } from './state/attempt.ts';
import type { ResumeRequest, RunRequest } from './state/run-request.ts';
import { draftingSpent } from './state/spent.ts';
import { beginAttempt } from './work/begin-attempt.ts';
import { handBackCandidate } from './work/hand-back-candidate.ts';
import { keepParts } from './work/keep-parts.ts';
import { endEarly, type MadeCandidate, makeCandidate } from './work/make-candidate.ts';
import { planWork } from './work/plan-work.ts';
import { reviewPlan } from './work/review-plan.ts';
import { settleLocalChanges, settlePlannedPaths } from './work/settle-local-changes.ts';

/**
 * The whole chain: contract → base → plan → candidate → rules → stages → decision → seal, wait or abandon. A refused
 * change is a RunView; only what stops the chain from judging at all is thrown, and then nothing of the person's was
 * moved.
 */
export async function runIntent(engine: WritEngine, request: RunRequest): Promise<RunView> {
  await using readers = keepObjectReaders();
  await using held = await startRun(engine, request, readers);
  return await drive(held, { isNew: true });
}

/**
 * Goes on with a run that was stopped or that waited: what was done is not done again
 * (`docs/decisions/0004-durable-runs.md`). One that has ended is answered as it stands.
 */
export async function resumeRun(engine: WritEngine, request: ResumeRequest): Promise<RunView> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(request.repositoryPath));
  const { store, runId } = await findRun(engine.slots.store, repository, request.clock, request.runId);
  const view = await readRun(repository, store, runId);
  if (view.state === 'decided') return view;
  await using held = await reopenRun(engine, request, readers);
  return await drive(held, { isNew: false });
}

async function drive(held: HeldRun, { isNew }: { readonly isNew: boolean }): Promise<RunView> {
  const { run, supplied } = held;
  await run.means.steps.once('plan-reviewed', () => reviewPlan(run));
  const frames = run.identity.isWorked ? await openRunFrames(run) : undefined;
  const plan = await planWork(run);
  await settlePlannedPaths(run, plan);
  const drafting = draftingSpent(run.means.steps, held.started.drafting);
  const state = newPlanState(plan, await costLimit(run), frames, drafting);
  for (let round = 1; ; round += 1) {
    let made: MadeCandidate =
      run.means.cancelled !== undefined
        ? await endEarly(run, state, supplied)
        : supplied
          ? { attempt: beginAttempt(run, 'candidate-1', supplied) }
          : await makeCandidate(run, state, round);
    // Nothing is evaluated that could not land.
    if (!made.ended)
      made = {
        attempt: await settleLocalChanges(run, made.attempt, {
          round,
          isNew,
          isSupplied: supplied !== undefined,
        }),
      };
    let { attempt, judged, shown } = made.ended
      ? { attempt: made.attempt, judged: made.ended, shown: undefined }
      : await judgeCandidate(made.attempt, state);
    if (!made.ended) await keepParts(attempt, state, judged);
    if (!made.ended && judged.decision.next === 'wait-for-approval' && run.means.settings.approvers?.length) {
      await frames?.keep();
      await waitForPeople(attempt, judged, shown);
      await approveInProcess(attempt);
      ({ attempt, judged, shown } = await judgeCandidate(made.attempt, state));
    }
    const { next } = judged.decision;
    if (next === 'retry' || next === 'replan') {
      await handBackCandidate(attempt, state, judged, `candidate-${round}`);
      continue;
    }
    await frames?.keep();
    if (next.startsWith('wait-')) {
      await waitForPeople(attempt, judged, shown);
      await held.wait();
    } else {
      await (next === 'seal' ? seal : abandon)(attempt, judged);
      await held.finish();
    }
    const stored = await readRun(run.ground.repository, run.means.store, run.identity.runId);
    const view = stored.state === 'waiting' ? asJudgedNow(stored, attempt, judged) : stored;
    await tellDecision(run.means.engine, view, judged);
    return view;
  }
}

/**
 * What is stored of a run that waits stays as it was when it was signed; how far it has come since then is told from
 * this judgement.
 */
function asJudgedNow({ notices: _, ...view }: RunView, attempt: Attempt, judged: JudgedRun): RunView {
  const { findings, stages, decision } = judged;
  const { rationale, next } = decision;
  const { notices } = finalReport(attempt, findings, stages);
  return {
    ...view,
    ...(notices === undefined ? {} : { notices }),
    stages: view.stages.map((stored) => stages.find(({ stage }) => stage === stored.stage) ?? stored),
    ...(view.decision && { decision: { ...view.decision, rationale } }),
    waiting: {
      for: next === 'wait-for-budget' ? 'budget' : 'approval',
      needed: neededApprovals(judged),
      people: attempt.approvals,
    },
  };
}
