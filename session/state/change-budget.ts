import { WritError } from '../../core/base/errors.ts';
import type { StepCost } from './cost.ts';
import type { Decided, Moment } from './decided.ts';
import type { Speaker } from './fact.ts';
import { shortBudget } from './short-budget.ts';
import { pendingOf, type SessionState } from './state.ts';
import { budgetUnpriced } from './usage.ts';

/** Where a session stops, in USD: what a person said in it, else what it was opened with; `undefined`: nowhere. */
export function limitOf({ limit, ground }: Pick<SessionState, 'limit' | 'ground'>): number | undefined {
  return limit === undefined ? ground.limitUsd : limit.usd;
}

/**
 * Sets where the session stops, whatever runs; `undefined`: nowhere. SESSION_BUDGET_UNPRICED where the price of its
 * model is unknown, PERSON_REQUIRED where a program would have it cost more.
 */
export function changeBudget(
  state: SessionState,
  limitUsd: number | undefined,
  by: Speaker,
  { newId }: Pick<Moment, 'newId'>,
): Decided {
  const before = limitOf(state);
  const { ground, settings } = state;
  // Of another model than the one that it was started with, the first question says whether its price is known.
  if (limitUsd !== undefined && settings.model === undefined && ground.isPriced === false)
    throw budgetUnpriced(ground.provider.model ?? ground.provider.provider, limitUsd);
  const isMore = before !== undefined && (limitUsd === undefined || limitUsd > before);
  if (isMore && by.kind === 'automation')
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may lower what a session costs, and a person alone may raise it',
      detail: { limit_usd: before },
    });
  const short = shortBudget(limitUsd, state.usage, askedPlanCost(state));
  const text =
    limitUsd === undefined
      ? 'nothing stops the session at what it costs'
      : `the session stops before it costs more than ${limitUsd} USD${short === undefined ? '' : `\n${short}`}`;
  return {
    facts: [
      { type: 'limited', ...(limitUsd === undefined ? {} : { limitUsd }) },
      { type: 'noted', id: newId(), title: 'Budget', text },
    ],
    wants: [],
  };
}

/** What the plan that somebody is asked about is estimated to cost. */
function askedPlanCost(state: SessionState): Pick<StepCost, 'costUsd'> {
  const plan = pendingOf(state).find(({ kind }) => kind === 'post_plan_choice');
  const { costUsd } = (plan?.metadata.estimated ?? {}) as Pick<StepCost, 'costUsd'>;
  return costUsd === undefined ? {} : { costUsd };
}
