import type { TurnEnd } from './fact.ts';
import type { Interaction } from './interaction.ts';
import { stepped } from './reduce-work.ts';
import type { SessionState } from './state.ts';
import type { SessionPlan } from './work.ts';

type Plans = readonly SessionPlan[];

/** A plan further on: that it was run once stays known, whatever became of it. */
export function lived(known: SessionPlan | undefined, plan: SessionPlan): SessionPlan {
  const { run, status } = plan;
  if (run === undefined) return plan;
  const hasBegun = status === 'running' || known?.run?.hasBegun === true;
  // Whoever tells it further on does not know what it has cost.
  const actuals = known?.actuals ?? plan.actuals;
  return {
    ...plan,
    ...(actuals === undefined ? {} : { actuals }),
    run: hasBegun ? { ...run, hasBegun } : run,
  };
}

/** What a model told of its own work goes as far as the plan that it worked on. */
export function withModelSettled(plans: Plans, { id, run, status, updatedAtMs }: SessionPlan): Plans {
  if (run === undefined || status === 'running' || status === 'proposed') return plans;
  return plans.map((one) =>
    one.id === `${id}/model` && one.status === 'running' ? ended(one, status, updatedAtMs) : one,
  );
}

/** A plan that is asked about again, and was never run, is proposed again. */
export function askedPlans(plans: Plans, { metadata }: Interaction, atMs: number): Plans {
  return plans.map((plan) =>
    plan.id === metadata.planId && plan.status === 'cancelled' && plan.run?.hasBegun !== true
      ? { ...plan, status: 'proposed', updatedAtMs: atMs }
      : plan,
  );
}

/** A plan that somebody wants otherwise, or not at all, is not executed. */
export function answeredPlans(
  plans: Plans,
  asked: Interaction | undefined,
  option: string,
  atMs: number,
): Plans {
  if (option !== 'modify' && option !== 'cancel') return plans;
  return plans.map((plan) =>
    plan.id === asked?.metadata.planId && plan.status === 'proposed' ? ended(plan, 'cancelled', atMs) : plan,
  );
}

/** Nobody works on a plan behind its turn, nor is asked about one; but one whose run waits for people goes on. */
export function endedPlans(
  { plans, run, outcome }: Pick<SessionState, 'plans' | 'run' | 'outcome'>,
  end: TurnEnd,
  atMs: number,
): Plans {
  const waits = outcome?.decision === 'waiting' && outcome.runId === run;
  return plans.map((plan) => {
    if (plan.status === 'proposed') return ended(plan, 'cancelled', atMs);
    if (plan.status !== 'running' || (waits && plan.run !== undefined)) return plan;
    if (end === 'failed') return ended(plan, 'failed', atMs);
    return ended(plan, plan.run === undefined && end !== 'cancelled' ? 'completed' : 'cancelled', atMs);
  });
}

/** What was being done is to be done; what a model said of its own steps stays what it said. */
function ended(plan: SessionPlan, status: SessionPlan['status'], atMs: number): SessionPlan {
  const open = plan.run === undefined ? [] : plan.steps.filter((one) => one.status === 'in_progress');
  return {
    ...open.reduce((sofar, { id }) => stepped(sofar, { step: id, status: 'pending' }, atMs), plan),
    status,
    updatedAtMs: atMs,
  };
}
