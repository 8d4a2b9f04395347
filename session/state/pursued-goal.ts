import { isOpenGoal, type SessionGoal } from './goal.ts';
import type { SessionState } from './state.ts';

/** The goal that the turn which runs is for. */
export function pursuedGoal({ goal, turn }: Pick<SessionState, 'goal' | 'turn'>): SessionGoal | undefined {
  return goal !== undefined && isOpenGoal(goal) && goal.turn === turn ? goal : undefined;
}
