import { room } from './rooms/room.ts';

await room(
  'bin/ci',
  'bin/commands/upkeep.test.ts',
  'engine/cost-cap.test.ts',
  'engine/damaged-runs.test.ts',
  'engine/record/cancel-request.test.ts',
  'engine/upkeep',
  'tutorials',
);
