import type { Route } from '../../http/send-answer.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import { toGoalView } from '../state/goal-view.ts';
import { readGoal, readReason } from './read-body.ts';
import type { WriteDoor } from './write-door.ts';

/**
 * The routes of goals (resolutions, goal/start). One at a time: GOAL_ALREADY_ACTIVE, unless the objective is that of
 * the one that is blocked, which goes on. GOAL_NOT_ACTIVE, CONTROLLER_CONFLICT where the session is busy.
 */
export function goalRoutes({ required, write }: WriteDoor): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/goal/status',
      answer: () => statusOf(required()),
    },
    write('/api/code/goal/start', async (channel, body, proof) => {
      await channel.send({ type: 'goal-start', proof, ...readGoal(body) });
      return { accepted: true, ...statusOf(channel) };
    }),
    write(
      '/api/code/goal/cancel',
      async (channel, body, proof) => {
        await channel.send({ type: 'goal-cancel', proof, ...readReason(body) });
        return { accepted: true, ...statusOf(channel) };
      },
      { isBodyless: true },
    ),
  ];
}

/** `none` where no goal was ever set. */
function statusOf({ state: { goal } }: SessionChannel) {
  return goal === undefined ? { status: 'none' } : { status: goal.status, goal: toGoalView(goal) };
}
