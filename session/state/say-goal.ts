import type { Decided, Moment } from './decided.ts';
import type { Fact, Speaker } from './fact.ts';
import type { SessionGoal } from './goal.ts';
import { exhausted } from './goal-budget.ts';
import { toGoalView } from './goal-view.ts';
import { cancelGoal, resumeGoal, startGoal } from './pursue-goal.ts';
import type { GoalWords } from './slash/spoken.ts';
import type { SessionState } from './state.ts';

/** What a message makes of a goal; it is taken while a turn runs, too. */
export function sayGoal(
  state: SessionState,
  words: GoalWords,
  said: Extract<Fact, { readonly type: 'said' }>,
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

/** A goal in a few lines, for whoever asks in words. */
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
