import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import { toPlanFault } from '../../../core/contract/plan-problem.ts';
import { checkTaskGraph } from '../../../core/contract/task-graph.ts';
import { planFiles, planFolder } from '../record/plan-objects.ts';
import type { OpenRun } from '../state/attempt.ts';
import { draftPlan } from './draft-plan.ts';
import { readPlanGround } from './read-plan-ground.ts';

/**
 * The plan of a run, drafted once: by the contract, then by whoever changes drafts, and judged after that. PLAN_*
 * errors.
 */
export async function planWork(run: OpenRun): Promise<PlanDraft> {
  return run.means.steps.once('plan/1', async () => {
    const {
      identity: { contract, scope },
      means: { engine, scratch },
      ground,
    } = run;
    const spec = contract.effective;
    const draft = await draftPlan(engine, {
      spec,
      scope,
      for: run.identity.isWorked ? 'worker' : 'patch',
      ground: await readPlanGround(scratch, ground.base.tree, spec),
    });
    await keepPlan(run, draft);
    return draft;
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
