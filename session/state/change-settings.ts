/** Changes settings and budget of a running session. */
import { WritError } from '../../core/base/errors.ts';
import { leastOf, requireBudgetAllowed } from '../../engine/config/session-policy.ts';
import { type Decided, type Moment, requireIdle } from './command.ts';
import type { Speaker } from './fact.ts';
import { isOpenGoal } from './goal.ts';
import { type SessionSettings, type SettingChange, sound } from './settings.ts';
import { pendingOf, type SessionState } from './state.ts';
import { budgetUnpriced, type StepCost, shortBudget } from './usage.ts';

/**
 * Changes settings for later turns. Changing context or model during a turn is CONTROLLER_CONFLICT; a setting that
 * the session does not allow is UNSUPPORTED_OPERATION.
 */
export function changeSettings(
  state: SessionState,
  change: SettingChange,
  by: Speaker,
  { newId }: Pick<Moment, 'newId'>,
): Decided {
  const { settings: before } = state;
  if (change.context !== undefined || change.model !== undefined) requireIdle(state);
  if (change.context === 'dev') requireMayWrite(state, by);
  if (change.networkAccess === 'allow' && before.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${before.context} only reads, so it has no network`,
      hints: ['switch to `/context dev` first'],
    });
  requireMayHold(state, change, by);
  const { review = before.review, ...others } = change;
  const { review: _, ...rest } = before;
  const settings = sound({ ...rest, ...others, ...(review === 'on' ? { review } : {}) });
  const text = [...told(change), ...closed(before, settings, change)].join('\n');
  return {
    facts: [
      { type: 'set', settings },
      { type: 'noted', id: newId(), title: 'Settings', text },
    ],
    wants: [],
  };
}

/** A session that reads becomes one that writes by a person alone, and not at all if its agent only reads. */
function requireMayWrite({ ground: { onlyReads, context }, settings }: SessionState, by: Speaker): void {
  if (onlyReads)
    throw new WritError('UNSUPPORTED_OPERATION', { message: 'the agent profile of this session only reads' });
  if (context !== 'dev' && by.kind === 'automation')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `the session was started for ${context}: no program makes it write`,
    });
  if (settings.context !== 'dev' && by.kind === 'automation')
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may make a session read-only, but only a person may allow changes again',
    });
}

/** Only a person may switch reviews off, and reviews exclude goals. */
function requireMayHold({ settings, goal }: SessionState, { review }: SettingChange, by: Speaker): void {
  if (review === 'off' && settings.review === 'on' && by.kind === 'automation')
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may turn reviews on, but only a person may turn them off',
    });
  if (review === 'on' && goal !== undefined && isOpenGoal(goal))
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: 'the session works towards a goal, so its changes cannot wait for a review',
      hints: ['end the goal first: `/goal cancel`'],
    });
}

const ofContext = {
  dev: 'plain requests are planned, and change things once a plan is executed',
  review: 'questions are answered as a review, and nothing is changed',
  research: 'questions are answered, and nothing is changed',
} as const;

const ofReview = {
  on: 'what a plan makes is held on a branch of its own until you have reviewed it, from the next run on',
  off: 'what passes its gates is committed where it is meant to be, from the next run on',
} as const;

const ofNetwork = {
  allow: 'plans are proposed with the network open from now on',
  deny: 'plans are proposed without a network from now on; a run that has begun keeps what it was executed with',
} as const;

function told({ context, networkAccess, review, model }: SettingChange): readonly string[] {
  return [
    ...(context === undefined ? [] : [`context ${context}: ${ofContext[context]}`]),
    ...(networkAccess === undefined ? [] : [`network ${networkAccess}: ${ofNetwork[networkAccess]}`]),
    ...(review === undefined ? [] : [`review ${review}: ${ofReview[review]}`]),
    ...(model === undefined ? [] : [`model ${model}: it is asked from the next turn on`]),
  ];
}

/** Reports a setting that changed because of another change. */
function closed(before: SessionSettings, after: SessionSettings, change: SettingChange): readonly string[] {
  if (change.networkAccess !== undefined || before.networkAccess === after.networkAccess) return [];
  return ['network deny: what only reads gets none'];
}

/**
 * The cost limit of the session in USD: the limit set by a person, else the one it was opened with, and never more
 * than the policy allows. `undefined`: no limit.
 */
export function limitOf({ limit, ground }: Pick<SessionState, 'limit' | 'ground'>): number | undefined {
  return leastOf(ground.policy ?? [], 'sessionUsd', limit === undefined ? ground.limitUsd : limit.usd);
}

/**
 * Sets where the session stops, whatever runs; `undefined`: nowhere. SESSION_POLICY_EXCEEDED, SESSION_BUDGET_UNPRICED
 * where the price of its model is unknown, PERSON_REQUIRED where a program would have it cost more.
 */
export function changeBudget(
  state: SessionState,
  limitUsd: number | undefined,
  by: Speaker,
  { newId }: Pick<Moment, 'newId'>,
): Decided {
  const before = limitOf(state);
  const { ground, settings } = state;
  requireBudgetAllowed(ground.policy ?? [], limitUsd);
  // If the model has changed since the start, the first call shows whether its price is known.
  if (limitUsd !== undefined && settings.model === undefined && ground.isPriced === false)
    throw budgetUnpriced(ground.provider.model ?? ground.provider.provider, limitUsd);
  const isMore = before !== undefined && (limitUsd === undefined || limitUsd > before);
  if (isMore && by.kind === 'automation')
    throw new WritError('PERSON_REQUIRED', {
      message: 'a program may lower the budget of a session, but only a person may raise it',
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

/** Estimated cost of the plan in the pending question. */
function askedPlanCost(state: SessionState): Pick<StepCost, 'costUsd'> {
  const plan = pendingOf(state).find(({ kind }) => kind === 'post_plan_choice');
  return (plan?.kind === 'post_plan_choice' && plan.metadata.estimated) || {};
}
