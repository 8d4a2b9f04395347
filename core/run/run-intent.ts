import type { RunView } from '../contract/run-view.ts';
import { abandon } from './abandon.ts';
import { beginAttempt } from './begin-attempt.ts';
import { decideRun } from './decide-run.ts';
import { judgePatch } from './judge-patch.ts';
import { type HeldRun, reopenRun, startRun } from './open-run.ts';
import { readRun } from './read-run.ts';
import { reviewPlan } from './review-plan.ts';
import type { ResumeRequest, RunRequest } from './run-request.ts';
import { runStages } from './run-stages.ts';
import { seal } from './seal.ts';
import { tellDecision } from './tell-decision.ts';
import type { WritEngine } from './writ-engine.ts';

/**
 * The whole chain: contract → base → plan → candidate → rules → stages → decision → seal, wait or abandon. A refused change is a
 * RunView; only what stops the chain from judging at all is thrown, and then nothing of the person's was moved.
 */
export async function runIntent(engine: WritEngine, request: RunRequest): Promise<RunView> {
  await using held = await startRun(engine, request);
  return await drive(held);
}

/** Goes on with a run that was stopped or that waited: what was done is not done again (`docs/decisions/0004-durable-runs.md`). */
export async function resumeRun(engine: WritEngine, request: ResumeRequest): Promise<RunView> {
  await using held = await reopenRun(engine, request);
  return await drive(held);
}

async function drive(held: HeldRun): Promise<RunView> {
  const { run, supplied } = held;
  await run.steps.once('plan-reviewed', () => reviewPlan(run));
  if (!supplied) throw new TypeError('no worker yet');
  const attempt = beginAttempt(run, 'candidate', supplied);
  const findings = await judgePatch(attempt);
  const isRejected = findings.some(({ severity }) => severity === 'error');
  const { stages, dependencies } = isRejected ? { stages: [], dependencies: [] } : await runStages(attempt);
  const judged = await decideRun(attempt, findings, stages, dependencies);
  const act = judged.decision.type === 'commit' ? seal : abandon;
  await act(attempt, judged);
  await held.finish();
  const view = await readRun(run.ground.repository, run.store, run.runId);
  await tellDecision(run.engine, view);
  return view;
}
