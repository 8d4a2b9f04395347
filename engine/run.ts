import type { RunView } from '../core/interfaces/run-view.ts';
import type { WritEngine } from '../spec/writ-engine.ts';
import { findRun } from '../store/record/list-records.ts';
import { keepObjectReaders } from '../workspace/git/object-reader.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { reportDecision } from './decide/decide-run.ts';
import { approveInProcess, neededApprovals, waitForPeople } from './decide/people.ts';
import { type DecidedCandidate, evaluateCandidate } from './evaluate-candidate.ts';
import type { HeldRun } from './open/hold-run.ts';
import { reopenRun } from './open/reopen-run.ts';
import { startRun } from './open/start-run.ts';
import { finalReport } from './record/build-gate-report.ts';
import type { EvaluatedRun } from './record/evaluation-objects.ts';
import { costLimit, newPlanState, openRunFrames, type PlanState } from './record/plan-state.ts';
import { readRun } from './record/read-run.ts';
import { abandon, seal } from './seal/seal.ts';
import type { Attempt } from './state/open-run.ts';
import type { ResumeRequest, RunRequest } from './state/run-request.ts';
import { draftingSpent } from './state/spent.ts';
import {
  endEarly,
  keepParts,
  type MadeCandidate,
  makeCandidate,
  returnCandidate,
} from './work/make-candidate.ts';
import { planWork, reviewPlan } from './work/plan-work.ts';
import { settleLocalChanges, settlePlannedPaths } from './work/settle-local-changes.ts';
import { beginAttempt } from './work/work-attempt.ts';
/**
 * Runs the whole chain: open → plan → work → evaluate → decide → seal, wait or abandon. Returns a RunView even for a
 * refused change. Throws only if the checks cannot run at all; the user's branch and files are then unchanged.
 */
export async function runIntent(engine: WritEngine, request: RunRequest): Promise<RunView> {
  await using readers = keepObjectReaders();
  await using held = await startRun(engine, request, readers);
  return await drive(held, { isNew: true });
}

/**
 * Resumes a run that was interrupted or that waited; completed steps are not repeated
 * (`docs/decisions/0004-durable-runs.md`). Returns the stored view of a run that has ended.
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
  const state = await plan(held);
  for (let round = 1; ; round += 1) {
    const made = await work(held, state, { round, isNew });
    const candidate = await decideOn(made, state);
    const { next } = candidate.judged.decision;
    if (next !== 'retry' && next !== 'replan') return await end(held, state, candidate);
    await returnCandidate(candidate.attempt, state, candidate.judged, `candidate-${round}`);
  }
}

/** Objectives → tasks → graph, reviewed by people if the run's settings say so. */
async function plan({ run, started }: HeldRun): Promise<PlanState> {
  await run.services.steps.once('plan-reviewed', () => reviewPlan(run));
  const frames = run.identity.isWorked ? await openRunFrames(run) : undefined;
  const draft = await planWork(run);
  await settlePlannedPaths(run, draft);
  return newPlanState(
    draft,
    await costLimit(run),
    frames,
    draftingSpent(run.services.steps, started.drafting),
  );
}

/** Makes the candidate, or uses the supplied one. Local changes come first: no check runs on what could not land. */
async function work(
  { run, supplied }: HeldRun,
  state: PlanState,
  { round, isNew }: { readonly round: number; readonly isNew: boolean },
): Promise<MadeCandidate> {
  if (run.services.cancelled !== undefined) return await endEarly(run, state, supplied);
  const made = supplied
    ? { attempt: beginAttempt(run, 'candidate-1', supplied) }
    : await makeCandidate(run, state, round);
  if (made.ended) return made;
  const about = { round, isNew, isSupplied: supplied !== undefined };
  return { attempt: await settleLocalChanges(run, made.attempt, about) };
}

/** Evaluates a candidate and decides on it; again after approvers of this process have answered. */
async function decideOn(
  { attempt: made, ended }: MadeCandidate,
  state: PlanState,
): Promise<DecidedCandidate> {
  if (ended) return { attempt: made, judged: ended };
  const candidate = await evaluateCandidate(made, state);
  const { attempt, judged, shown } = candidate;
  await keepParts(attempt, state, judged);
  const { approvers } = attempt.services.settings;
  if (judged.decision.next !== 'wait-for-approval' || !approvers?.length) return candidate;
  await state.frames?.keep();
  await waitForPeople(attempt, judged, shown);
  await approveInProcess(attempt);
  return await evaluateCandidate(made, state);
}

/** Carries out the decision: seals, abandons, or leaves the run to wait for people. */
async function end(
  held: HeldRun,
  state: PlanState,
  { attempt, judged, shown }: DecidedCandidate,
): Promise<RunView> {
  const { run } = held;
  const { next } = judged.decision;
  await state.frames?.keep();
  if (next.startsWith('wait-')) {
    await waitForPeople(attempt, judged, shown);
    await held.wait();
  } else {
    await (next === 'seal' ? seal : abandon)(attempt, judged);
    await held.finish();
  }
  const stored = await readRun(run.environment.repository, run.services.store, run.identity.runId);
  const view = stored.state === 'waiting' ? asJudgedNow(stored, attempt, judged) : stored;
  await reportDecision(run.services.engine, view, judged);
  return view;
}

/** The stored record of a waiting run stays as it was signed; this adds the state from the latest checks. */
function asJudgedNow({ notices: _, ...view }: RunView, attempt: Attempt, judged: EvaluatedRun): RunView {
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
