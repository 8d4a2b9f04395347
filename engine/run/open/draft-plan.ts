import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import { toPlanFault } from '../../../core/contract/plan-problem.ts';
import { coversSpec } from '../../plan/covers-spec.ts';
import { type PlanQuestion, planTasks } from '../../plan/plan-tasks.ts';
import type { AskedPlugins } from './asked-plugins.ts';

/**
 * The first Plan of a contract, as plugins at `plan.draft` leave it. Throws PLAN_DUPLICATE_OBJECTIVE, PLAN_CONFLICT,
 * and PLAN_INVALID where a plugin lost an objective, a boundary or a gate.
 */
export async function draftPlan(
  { redraft }: Pick<AskedPlugins, 'redraft'>,
  question: PlanQuestion,
): Promise<PlanDraft> {
  const planned = planTasks(question);
  if (!planned.ok) throw toPlanFault(planned.problems);
  const draft = await redraft(planned.draft);
  if (draft === planned.draft) return draft;
  const problems = coversSpec(draft, question.spec, question.for);
  if (problems.length > 0) throw toPlanFault(problems);
  return draft;
}
