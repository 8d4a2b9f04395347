import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import { toPlanFault } from '../../../core/contract/plan-problem.ts';
import { checkTaskGraph } from '../../../core/contract/task-graph.ts';
import { askedOf } from '../open/asked-plugins.ts';
import { draftPlan } from '../open/draft-plan.ts';
import { readPlanGround } from '../open/read-plan-ground.ts';
import { planFiles, planFolder } from '../record/plan-objects.ts';
import type { OpenRun } from '../state/attempt.ts';
import { advisePlan } from './advise-plan.ts';

/**
 * The plan of a run, drafted once: by the contract, then by whoever changes drafts, then with the advice of the model
 * that works, and judged after that. PLAN_* errors.
 */
export async function planWork(run: OpenRun): Promise<PlanDraft> {
  return run.means.steps.once('plan/1', async () => {
    const draft = await advisePlan(run, run.means.draft ?? (await draftAgain(run)));
    await keepPlan(run, draft);
    return draft;
  });
}

/** For a run that was stopped before its plan was kept. */
async function draftAgain({
  identity: { contract, scope, isWorked },
  means: { engine, scratch },
  ground,
}: OpenRun): Promise<PlanDraft> {
  const spec = contract.effective;
  return draftPlan(askedOf(engine), {
    spec,
    scope,
    for: isWorked ? 'worker' : 'patch',
    ground: await readPlanGround(scratch, ground.base.tree, spec),
  });
}

/** Writes a revision of the plan into the record, once its graph is judged; earlier ones stay beside it. */
export async function keepPlan(run: OpenRun, draft: PlanDraft): Promise<void> {
  const checked = checkTaskGraph(draft.tasks);
  if (!checked.ok) throw toPlanFault(checked.problems);
  const nowMs = await run.means.steps.once(`plan/${draft.revision}/at`, () => run.means.settings.clock.now());
  const folder = planFolder(draft.revision);
  await run.means.record.put(
    planFiles(run.identity, draft, nowMs).map(([path, bytes]) => [`${folder}/${path}`, bytes]),
  );
}
