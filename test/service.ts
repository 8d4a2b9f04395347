import { room } from './rooms/room.ts';

await room(
  'service/bus.test.ts',
  'service/dirty-marks.test.ts',
  'service/may-have-service.test.ts',
  'service/docs.test.ts',
  'service/hostile-requests.test.ts',
  'service/kill.test.ts',
  'service/hostile',
  'service/mark-paths.test.ts',
  'bin/commands/demo-session.test.ts',
  'bin/commands/demo-watch.test.ts',
  'bin/commands/demo.test.ts',
  'bin/commands/drafts-run.test.ts',
  'bin/commands/service-progress.test.ts',
  'bin/commands/verifying-page.test.ts',
);
