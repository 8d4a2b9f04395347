import type { Moment } from './decided.ts';
import type { Fact } from './fact.ts';
import { heldQuestion } from './held/held-question.ts';
import type { Interaction } from './interaction.ts';
import { pursuedGoal } from './pursued-goal.ts';
import { pendingOf, type SessionState } from './state.ts';
import { stoppedWords } from './stopped-run.ts';

/**
 * What is known of a state whose process is gone: nobody waits for its tools, and how far they got nobody knows. A turn
 * that waits for an answer still waits, one that did what was answered on a held change asks again, any other has
 * failed. Pure.
 */
export function afterKill(
  state: SessionState,
  { nowMs, newId }: Pick<Moment, 'nowMs' | 'newId'>,
): readonly Fact[] {
  const left: Fact[] = state.toolCalls
    .filter(({ status }) => status === 'running' || status === 'preview')
    .map(({ id, toolName, status, summary: what }): Fact => {
      const isBegun = status === 'running';
      const how = isBegun ? 'writ was stopped before its end' : 'writ was stopped before it began';
      const summary = what === undefined ? how : `${what}: ${how}`;
      return { type: 'tool', id, toolName, status: isBegun ? 'unknown' : 'failed', summary };
    });
  const { turn } = state;
  const goal = pursuedGoal(state);
  // Only a draft or a plan that waits for a yes has nothing under way.
  const isLeft = goal?.status === 'active' && !pendingOf(state).some(isReview) && state.noteFor === undefined;
  if (isLeft)
    left.push({
      type: 'goal-moved',
      goal: goal.id,
      change: { status: 'blocked', blockReason: 'interrupted' },
    });
  if (turn === undefined || pendingOf(state).length > 0 || state.noteFor !== undefined) return left;
  const { held } = state;
  if (held !== undefined && !state.isCancelling) {
    const asked = { id: newId(), ...heldQuestion(held), status: 'pending', requestedAtMs: nowMs } as const;
    return [...left, { type: 'asked', interaction: asked }];
  }
  const why = 'writ was stopped in the middle of this turn';
  // A goal goes on with its run by itself.
  const words = isLeft ? '' : stoppedWords(state);
  const reason = isLeft
    ? `${why}: \`/goal start\` goes on with the goal`
    : [why, words].filter(Boolean).join('; ');
  return [...left, { type: 'turn-ended', turn, end: 'failed', reason }];
}

function isReview({ kind }: Interaction): boolean {
  return kind === 'intent_review_choice' || kind === 'post_plan_choice';
}
