import { room } from './rooms/room.ts';

await room(
  'service/bus.test.ts',
  'service/dirty-marks.test.ts',
  'service/docs.test.ts',
  'service/hostile-requests.test.ts',
  'service/kill.test.ts',
  'service/hostile',
  'service/mark-paths.test.ts',
);
