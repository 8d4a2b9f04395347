import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { TurnScope } from '../turn-scope.ts';

/** Counts the time that a turn has worked since it was counted last as its goal's. */
export async function chargeWork({ state, tell, worked }: TurnScope): Promise<void> {
  const workedMs = worked.take();
  const goal = pursuedGoal(state());
  if (goal !== undefined && workedMs > 0)
    await tell({ type: 'goal-moved', goal: goal.id, change: { workedMs } });
}
