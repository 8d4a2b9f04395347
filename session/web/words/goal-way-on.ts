import type { Seen } from '../seen.ts';

type Goal = NonNullable<Seen['goal']>;

/** How a goal that is blocked goes on (docs/goal.md), and whether `/goal start` is what does it. */
export function goalWayOn({ status, blockReason }: Pick<Goal, 'status' | 'blockReason'>): {
  readonly words: string;
  readonly isStart: boolean;
} {
  if (status !== 'blocked') return { words: '', isStart: false };
  return ways[blockReason ?? ''] ?? { words: '', isStart: true };
}

const byPlan = {
  words:
    'The plan that waits goes on with it: execute grants one more budget; or say what shall be different.',
  isStart: false,
};

const ways: Readonly<Record<string, { readonly words: string; readonly isStart: boolean }>> = {
  budget_tokens: byPlan,
  budget_cost: byPlan,
  budget_time: byPlan,
  no_progress: byPlan,
  criterion_unverifiable: {
    words:
      'No check says whether it holds. Drafting again may find one; better: give it up, and set one that a check can verify.',
    isStart: true,
  },
  expectation_changed: {
    words:
      'Tests that failed before pass only because they were rewritten. Review the commit; then execute the plan, or say what shall be different.',
    isStart: false,
  },
  session_budget: {
    words: 'The session has cost what it may: /budget with more, or off, and then',
    isStart: true,
  },
  awaiting_people: { words: 'A run waits for approvals: writ approve, and then', isStart: true },
};
