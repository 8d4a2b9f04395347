import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/route.ts';
import { readGoal, readReason } from './read-body.ts';
import type { WriteDoor } from './write-door.ts';

/**
 * The routes of goals. No supervisor pursues any in this version: there is none, one cannot be started, and that is
 * said (UNSUPPORTED_OPERATION, GOAL_NOT_ACTIVE) after everything else that may be wrong with a request.
 */
export function goalRoutes({ required, write }: WriteDoor): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/goal/status',
      answer: () => {
        required();
        return { status: 'none' };
      },
    },
    write('/api/code/goal/start', async (_channel, body) => {
      readGoal(body);
      throw new WritError('UNSUPPORTED_OPERATION', {
        message: 'no supervisor pursues goals in this version of writ',
        hints: ['say it as a request: POST /api/code/messages'],
      });
    }),
    write(
      '/api/code/goal/cancel',
      async (_channel, body) => {
        readReason(body);
        throw new WritError('GOAL_NOT_ACTIVE');
      },
      true,
    ),
  ];
}
