/** Decides how a goal starts, resumes and ends. */
import { WritError } from '../../core/base/errors.ts';
import { type CommandOf, type Decided, type Moment, requireIdle } from './command.ts';
import { cancel } from './control.ts';
import type { Fact, FactOf, Speaker } from './fact.ts';
import {
  exhausted,
  type GoalCriterion,
  isOpenGoal,
  newBudget,
  pursuedGoal,
  type SessionGoal,
  toGoalView,
} from './goal.ts';
import { requireUnreviewed } from './questions.ts';
import type { GoalWords } from './slash.ts';
import type { SessionState } from './state.ts';

type Said = FactOf<'said'>;
type Wish = Pick<CommandOf<'goal-start'>, 'objective' | 'criteria'>;

/**
 * Starts a goal in its own turn. The same objective resumes the blocked goal. Another objective is
 * GOAL_ALREADY_ACTIVE while a goal is open.
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
      message: `a session for ${settings.context} changes nothing, so it accepts no goal`,
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
function resumeGoal(state: SessionState, said: Said, by: Speaker, { newId }: Moment): Decided {
  const { goal } = state;
  if (goal === undefined || !isOpenGoal(goal)) throw new WritError('GOAL_NOT_ACTIVE');
  if (goal.status === 'active') throw alreadyActive(goal);
  return goOnWith(state, goal, said, by, newId());
}

/** A goal is given up, and its turn with it. GOAL_NOT_ACTIVE. */
export function cancelGoal(
  state: SessionState,
  { reason }: Pick<CommandOf<'goal-cancel'>, 'reason'>,
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

/** The objective is the first criterion. */
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

/** Handles `/goal`, also while a turn runs. */
export function sayGoal(
  state: SessionState,
  words: GoalWords,
  said: FactOf<'said'>,
  by: Speaker,
  moment: Moment,
): Decided {
  switch (words.kind) {
    case 'start':
      return startGoal(state, { objective: words.objective, criteria: [] }, said, by, moment);
    case 'go-on':
      return resumeGoal(state, said, by, moment);
    case 'cancel':
      return cancelGoal(state, words, [said], moment);
    case 'status': {
      const told = {
        type: 'noted',
        id: moment.newId(),
        title: 'Goal',
        text: sentenceOf(state.goal),
      } as const;
      return { facts: [said, told], wants: [] };
    }
  }
}

/** A goal as a few lines of text. */
function sentenceOf(goal: SessionGoal | undefined): string {
  if (goal === undefined) return 'no goal was set: `/goal start OBJECTIVE`';
  const { status, blockReason, objective, criteria, loops, budget } = toGoalView(goal);
  const { tokens, costUsd, seconds } = budget;
  return [
    `${status}${blockReason === undefined ? '' : ` (${blockReason})`}: ${objective}`,
    ...criteria.map((one) => {
      const by = one.checks === undefined ? 'no check yet' : one.checks.join(', ');
      return `- ${one.status}: ${one.text} (${by})`;
    }),
    `${loops} ${loops === 1 ? 'run' : 'runs'} evaluated; used ${count(tokens)} tokens, ${usd(costUsd)}, ${count(seconds)} s${exhausted(goal.budget) === undefined ? '' : ', used up'}`,
    ...(status === 'blocked' ? ['`/goal start` goes on with it, `/goal cancel` gives it up'] : []),
  ].join('\n');
}

interface Part {
  readonly used: number;
  readonly limit: number;
}

function count({ used, limit }: Part): string {
  return [used, limit].map((one) => one.toLocaleString('en-US')).join(' of ');
}

function usd({ used, limit }: Part): string {
  return [used, limit].map((one) => `$${one.toFixed(2)}`).join(' of ');
}
