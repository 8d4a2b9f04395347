import { room } from './rooms/room.ts';

await room(
  'bin/commands/upkeep.test.ts',
  'core/run/cost-cap.test.ts',
  'core/run/damaged-runs.test.ts',
  'core/run/cancel-request.test.ts',
  'core/upkeep',
);
