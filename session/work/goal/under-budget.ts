import { WritError } from '../../../core/base/errors.ts';
import type { ModelMeter } from '../../../engine/run/state/model-meter.ts';
import {
  addAmounts,
  type BudgetReason,
  exhausted,
  type GoalAmounts,
  noAmounts,
} from '../../state/goal-budget.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { TurnScope } from '../turn-scope.ts';
import { chargeWork } from './charge-work.ts';

/** What was done within a budget, or what of it was used up before that was done. */
type Budgeted<T> = { readonly done: T } | { readonly usedUp: BudgetReason };

const lookAgainMs = 300_000;
const unitsPerUsd = 1000;

/**
 * Does something for the goal that is pursued as long as its budget lasts. When tokens or money are used up no further
 * question is put to a model; when the time is, whatever runs is stopped. What had begun can be gone on with.
 */
export async function underBudget<T>(
  scope: TurnScope,
  act: (inner: TurnScope) => Promise<T>,
): Promise<Budgeted<T>> {
  const goal = pursuedGoal(scope.state());
  if (goal === undefined) throw new TypeError('a budget of a goal that there is not');
  await chargeWork(scope);
  const { limit } = goal.budget;
  const before = pursuedGoal(scope.state())?.budget.used ?? goal.budget.used;
  let asked: GoalAmounts = noAmounts;
  let usedUp: BudgetReason | undefined;
  const over = new AbortController();
  const stop = (reason: BudgetReason): WritError => {
    usedUp ??= reason;
    const stopped = new WritError('RUN_INTERRUPTED', { message: `the goal's budget is used up: ${reason}` });
    over.abort(stopped);
    return stopped;
  };
  const inner = scope.within(over.signal);
  /** What was asked is counted here at once: it is told in its own time. */
  const counting = (meter: ModelMeter): ModelMeter => ({
    begin(question) {
      const reason = exhausted({ limit, used: { ...addAmounts(before, asked), workMs: 0 } });
      if (reason !== undefined) throw stop(reason);
      const settle = meter.begin(question);
      return (reply) => {
        if (reply !== undefined) {
          const { usage, costUnits = 0 } = reply;
          const tokens = usage.input + usage.output;
          asked = addAmounts(asked, { tokens, costUsd: costUnits / unitsPerUsd, workMs: 0 });
        }
        settle(reply);
      };
    },
  });
  const ended = new AbortController();
  const timed = keepTime(inner, limit.workMs, AbortSignal.any([ended.signal, inner.signal])).then(
    () => void stop('budget_time'),
    () => undefined,
  );
  try {
    return { done: await act({ ...inner, meter: (plan) => counting(inner.meter(plan)) }) };
  } catch (fault) {
    if (usedUp === undefined || scope.signal.aborted) throw fault;
    return { usedUp };
  } finally {
    ended.abort();
    await timed;
    await chargeWork(scope);
  }
}

/** Resolves when so much was worked; rejects with the reason of the signal. */
async function keepTime(scope: TurnScope, limitMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await chargeWork(scope);
    const left = limitMs - (pursuedGoal(scope.state())?.budget.used.workMs ?? limitMs);
    if (left <= 0) return;
    await scope.setting.clock.sleep(Math.min(left, lookAgainMs), signal);
  }
}
