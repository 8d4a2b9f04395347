import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { Fact } from './fact.ts';
import { kept, type SaidReview, type TranscriptEntry } from './state.ts';
import type { HunkReview, SessionPlan, SessionTask, StepStatus } from './work.ts';

/** A new one at the end, or the same one as it is now; the oldest are let go of. */
export function withOne<T extends { readonly id: string }>(
  all: readonly T[],
  one: T,
  most: number,
): readonly T[] {
  if (all.some(({ id }) => id === one.id)) return all.map((known) => (known.id === one.id ? one : known));
  return [...all, one].slice(-most);
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

/** Nothing is at work behind its turn, or while its goal is blocked: what still was is to be done. */
export function stoppedTask(task: SessionTask, updatedAtMs: number): SessionTask {
  if (task.status !== 'running') return task;
  return { ...task, status: 'pending', details: 'was stopped', updatedAtMs };
}

/** A plan with what one question for one of its Tasks came to, at the line that the Task begins with. */
export function paidPlan(plan: SessionPlan, used: Extract<Fact, { readonly type: 'used' }>): SessionPlan {
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

/**
 * The dialogue with one message more. What is over its bound goes from its beginning on, up to a question of the
 * person: results without the calls that they answer no vendor takes.
 */
export function withMessage(
  dialogue: readonly ModelMessage[],
  message: ModelMessage,
): readonly ModelMessage[] {
  const all = [...dialogue, message];
  if (message.role !== 'user') return all;
  let size = all.reduce((sum, one) => sum + sizeOf(one), 0);
  let from = 0;
  for (let at = 0; at < all.length - 1 && size > kept.dialogue; at += 1) {
    size -= sizeOf(all[at] as ModelMessage);
    from = at + 1;
  }
  while (from > 0 && from < all.length && all[from]?.role !== 'user') from += 1;
  return from === 0 ? all : all.slice(from);
}

function sizeOf(message: ModelMessage): number {
  if (message.role === 'tool') return message.results.reduce((sum, { text }) => sum + text.length, 0);
  if (message.role === 'user') return message.text.length;
  return message.text.length + message.calls.reduce((sum, call) => sum + call.arguments.length, 0);
}
