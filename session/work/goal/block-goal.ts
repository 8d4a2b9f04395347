import type { BlockReason, SessionGoal } from '../../state/goal.ts';
import type { TurnScope } from '../turn-scope.ts';

/** Nothing more is done for a goal until a person says so; why is told in words, too. */
export async function blockGoal(
  { tell, newId }: Pick<TurnScope, 'tell' | 'newId'>,
  { id }: Pick<SessionGoal, 'id'>,
  blockReason: BlockReason,
  text: string,
): Promise<void> {
  await tell({ type: 'goal-moved', goal: id, change: { status: 'blocked', blockReason } });
  await tell({ type: 'noted', id: newId(), title: 'Goal', text: `blocked (${blockReason}): ${text}` });
}
