/** Applies facts to plans, tasks and reviews. */
import type { FactOf, TurnEnd } from './fact.ts';
import type { Interaction } from './interaction.ts';
import { kept, type SaidReview, type SessionState, type TranscriptEntry } from './state.ts';
import type { HunkReview, SessionPlan, SessionTask, StepStatus } from './work.ts';

type Plans = readonly SessionPlan[];

/** A plan further on: that it was run once stays known, whatever became of it. */
export function lived(known: SessionPlan | undefined, plan: SessionPlan): SessionPlan {
  const { run, status } = plan;
  if (run === undefined) return plan;
  const hasBegun = status === 'running' || known?.run?.hasBegun === true;
  // A report of a plan has no costs.
  const actuals = known?.actuals ?? plan.actuals;
  return {
    ...plan,
    ...(actuals === undefined ? {} : { actuals }),
    run: hasBegun ? { ...run, hasBegun } : run,
  };
}

/** Ends the model's own steps with the plan that they belong to. */
export function withModelSettled(plans: Plans, { id, run, status, updatedAtMs }: SessionPlan): Plans {
  if (run === undefined || status === 'running' || status === 'proposed') return plans;
  return plans.map((one) =>
    one.id === `${id}/model` && one.status === 'running' ? ended(one, status, updatedAtMs) : one,
  );
}

/** A cancelled plan that never ran is proposed again with its question. */
export function askedPlans(plans: Plans, asked: Interaction, atMs: number): Plans {
  const planId = planIdOf(asked);
  return plans.map((plan) =>
    plan.id === planId && plan.status === 'cancelled' && plan.run?.hasBegun !== true
      ? { ...plan, status: 'proposed', updatedAtMs: atMs }
      : plan,
  );
}

/** `modify` and `cancel` end a proposed plan. */
export function answeredPlans(
  plans: Plans,
  asked: Interaction | undefined,
  option: string,
  atMs: number,
): Plans {
  if (option !== 'modify' && option !== 'cancel') return plans;
  const planId = asked && planIdOf(asked);
  return plans.map((plan) =>
    plan.id === planId && plan.status === 'proposed' ? ended(plan, 'cancelled', atMs) : plan,
  );
}

/** Ends open plans with their turn. A plan with a run that waits for people stays open. */
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

/** Ends a plan. Steps in progress become `pending`, except steps that a model reported itself. */
function ended(plan: SessionPlan, status: SessionPlan['status'], atMs: number): SessionPlan {
  const open = plan.run === undefined ? [] : plan.steps.filter((one) => one.status === 'in_progress');
  return {
    ...open.reduce((sofar, { id }) => stepped(sofar, { step: id, status: 'pending' }, atMs), plan),
    status,
    updatedAtMs: atMs,
  };
}

/** The last word on each hunk; the oldest are let go of. */
export function withReview(
  reviews: readonly SaidReview[],
  { id, review }: { readonly id: string; readonly review: HunkReview },
): readonly SaidReview[] {
  const others = reviews.filter(({ patchset, hunk }) => patchset !== review.patchset || hunk !== review.hunk);
  return [...others, { ...review, id }].slice(-kept.reviews);
}

/** What people read of a plan. */
export function planEntry({ id, title, summary, steps, updatedAtMs }: SessionPlan): TranscriptEntry {
  const lines = steps.map(({ step }, at) => `${at + 1}. ${step}`);
  return {
    id,
    kind: 'plan_summary',
    ...(title === undefined ? {} : { title }),
    content: [...(summary === undefined ? [] : [summary]), ...lines].join('\n'),
    streaming: false,
    metadata: {},
    createdAtMs: updatedAtMs,
    updatedAtMs,
  };
}

/** A plan of which one step, or every one, is elsewhere now. */
export function stepped(
  plan: SessionPlan,
  { step, status }: { readonly step?: string; readonly status: StepStatus },
  updatedAtMs: number,
): SessionPlan {
  const steps = plan.steps.map((one) => (step === undefined || one.id === step ? { ...one, status } : one));
  return { ...plan, steps, updatedAtMs };
}

/** After its turn, or while its goal is blocked, no task works: a running task becomes `pending`. */
export function stoppedTask(task: SessionTask, updatedAtMs: number): SessionTask {
  if (task.status !== 'running') return task;
  return { ...task, status: 'pending', details: 'was stopped', updatedAtMs };
}

/** A plan with what one question for one of its Tasks came to, at the line that the Task begins with. */
export function paidPlan(plan: SessionPlan, used: FactOf<'used'>): SessionPlan {
  const line = used.plan === plan.id ? plan.steps.find(({ task }) => task === used.task)?.id : undefined;
  if (line === undefined || used.task === undefined) return plan;
  const { actuals = [] } = plan;
  const before = actuals.find((one) => one.line === line);
  const tokens = (before?.tokens ?? 0) + used.inputTokens + used.outputTokens;
  const isPriced = used.costUsd !== undefined && (before === undefined || before.costUsd !== undefined);
  const costUsd = Math.round(1e6 * ((before?.costUsd ?? 0) + (used.costUsd ?? 0))) / 1e6;
  const paid = { line, tokens, ...(isPriced ? { costUsd } : {}) };
  return { ...plan, actuals: [...actuals.filter((one) => one.line !== line), paid] };
}

function planIdOf(asked: Interaction): string | undefined {
  return asked.kind === 'post_plan_choice' ? asked.metadata.planId : undefined;
}
