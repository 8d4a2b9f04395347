import { WritError } from '../../core/base/errors.ts';
import { cancel } from './cancel.ts';
import type { ClientCommand } from './command.ts';
import type { Decided, Moment } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import { type GoalCriterion, isOpenGoal, type SessionGoal } from './goal.ts';
import { newBudget } from './goal-budget.ts';
import { requireUnreviewed } from './held/require-held.ts';
import { pursuedGoal } from './pursued-goal.ts';
import { requireIdle } from './require-idle.ts';
import type { SessionState } from './state.ts';

type Said = Extract<Fact, { readonly type: 'said' }>;
type Wish = Pick<Extract<ClientCommand, { readonly type: 'goal-start' }>, 'objective' | 'criteria'>;

/**
 * A goal begins, in a turn of its own. The same objective again goes on with the one that is blocked; any other is
 * GOAL_ALREADY_ACTIVE as long as that one is open.
 */
export function startGoal(
  state: SessionState,
  { objective, criteria }: Wish,
  said: Said,
  by: Speaker,
  { newId }: Moment,
): Decided {
  const { goal, ground, settings } = state;
  if (settings.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${settings.context} changes nothing: no goal is pursued in it`,
      detail: { context: settings.context },
    });
  if (goal !== undefined && isOpenGoal(goal)) {
    const isSame = goal.objective === objective && namesNothingElse(goal, criteria);
    if (goal.status === 'active' || !isSame) throw alreadyActive(goal);
    return goOnWith(state, goal, said, by, newId());
  }
  requireIdle(state);
  requireUnreviewed(state);
  const [id, turn] = [newId(), newId()];
  const begun: SessionGoal = {
    id,
    objective,
    status: 'active',
    criteria: criteriaOf(objective, criteria),
    loops: 0,
    budget: newBudget(ground.goalBudget),
    turn,
  };
  return {
    facts: [said, { type: 'turn-began', turn }, { type: 'goal-began', goal: begun }],
    wants: [{ type: 'turn', turn, spoken: { kind: 'goal', text: objective }, by }],
  };
}

/** The goal that is blocked goes on; GOAL_NOT_ACTIVE where none is. */
export function resumeGoal(state: SessionState, said: Said, by: Speaker, { newId }: Moment): Decided {
  const { goal } = state;
  if (goal === undefined || !isOpenGoal(goal)) throw new WritError('GOAL_NOT_ACTIVE');
  if (goal.status === 'active') throw alreadyActive(goal);
  return goOnWith(state, goal, said, by, newId());
}

/** A goal is given up, and its turn with it. GOAL_NOT_ACTIVE. */
export function cancelGoal(
  state: SessionState,
  { reason }: Pick<Extract<ClientCommand, { readonly type: 'goal-cancel' }>, 'reason'>,
  said: readonly Said[],
  { newId }: Moment,
): Decided {
  const { goal } = state;
  if (goal === undefined || !isOpenGoal(goal)) throw new WritError('GOAL_NOT_ACTIVE');
  const { facts, wants } = pursuedGoal(state) === undefined ? { facts: [], wants: [] } : cancel(state);
  const change = { status: 'cancelled' } as const;
  const text = reason === undefined ? 'given up' : `given up: ${reason}`;
  const told: Fact = { type: 'noted', id: newId(), title: 'Goal', text };
  return { facts: [...said, { type: 'goal-moved', goal: goal.id, change }, told, ...facts], wants };
}

function goOnWith(
  state: SessionState,
  { id, objective }: SessionGoal,
  said: Said,
  by: Speaker,
  turn: string,
): Decided {
  requireIdle(state);
  requireUnreviewed(state);
  return {
    facts: [
      said,
      { type: 'turn-began', turn },
      { type: 'goal-moved', goal: id, change: { status: 'active', turn } },
    ],
    wants: [{ type: 'turn', turn, spoken: { kind: 'goal', text: objective }, by }],
  };
}

const maxDerived = 500;

/** The objective itself is the first criterion; whoever named more is held to those, too. */
function criteriaOf(objective: string, named: readonly string[]): readonly GoalCriterion[] {
  const derived = objective.length > maxDerived ? `${objective.slice(0, maxDerived)}…` : objective;
  return [derived.toWellFormed(), ...named].map((text, at) => ({
    id: `criterion-${at + 1}`,
    text,
    checks: [],
    status: 'open',
  }));
}

function namesNothingElse({ criteria }: SessionGoal, named: readonly string[]): boolean {
  const own = criteria.slice(1).map(({ text }) => text);
  return named.length === 0 || (named.length === own.length && named.every((text, at) => text === own[at]));
}

function alreadyActive({ id, status }: SessionGoal): WritError {
  return new WritError('GOAL_ALREADY_ACTIVE', { detail: { goal: id, status } });
}
