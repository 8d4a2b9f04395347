import type { RunView } from '../contract/run-view.ts';
import { abandon } from './abandon.ts';
import { admitContract } from './admit-contract.ts';
import { decideRun } from './decide-run.ts';
import { judgePatch } from './judge-patch.ts';
import { openAttempt } from './open-attempt.ts';
import { openWorkspace } from './open-workspace.ts';
import { reviewPlan } from './review-plan.ts';
import type { RunRequest } from './run-request.ts';
import { runStages } from './run-stages.ts';
import { seal } from './seal.ts';
import type { WritEngine } from './writ-engine.ts';

/**
 * The whole chain for a change that exists: contract → base → patchset → rules → stages → decision → seal or abandon.
 * A refused change is a RunView; only what stops the chain from judging at all is thrown, and then nothing was moved.
 */
export async function runIntent(engine: WritEngine, request: RunRequest): Promise<RunView> {
  const contract = await admitContract(engine, request.specBytes);
  await using opened = await openAttempt(engine, request, contract);
  const { attempt } = opened;
  await reviewPlan(attempt);
  const findings = await judgePatch(attempt);
  const workspace = await openWorkspace(attempt, findings);
  const stages = workspace ? await runStages(attempt, workspace) : [];
  const judged = await decideRun(attempt, findings, stages, workspace?.dependencies ?? []);
  const act = judged.decision.type === 'commit' ? seal : abandon;
  await act(attempt, judged);
  return opened.finish();
}
