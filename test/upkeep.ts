import { room } from './rooms/room.ts';

await room(
  'bin/commands/upkeep.test.ts',
  'engine/run/cost-cap.test.ts',
  'engine/run/damaged-runs.test.ts',
  'engine/run/record/cancel-request.test.ts',
  'engine/upkeep',
);
