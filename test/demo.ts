import { room } from './rooms/room.ts';

await room(
  'bin/commands/demo-session.test.ts',
  'bin/commands/demo-watch.test.ts',
  'bin/commands/demo.test.ts',
  'bin/commands/drafts-run.test.ts',
  'bin/commands/service-progress.test.ts',
  'bin/commands/verifying-page.test.ts',
);
