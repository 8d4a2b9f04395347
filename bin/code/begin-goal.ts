import type { OpenSession } from '../../session/open-session.ts';

/**
 * Begins the goal of `--goal`, as `/goal start` does: one that is blocked and has the same words goes on. A thread that
 * pursues it already does so, and waits for an answer. What `/goal start` would refuse is thrown.
 */
export async function beginGoal({ channel }: Pick<OpenSession, 'channel'>, objective: string): Promise<void> {
  const { goal } = channel.state;
  if (goal?.status === 'active' && goal.objective === objective) return;
  await channel.send({ type: 'goal-start', objective, criteria: [], proof: { from: 'local' } });
}
