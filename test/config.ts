import { room } from './rooms/room.ts';

await room(
  'core/config.test.ts',
  'core/run/workspace-dependencies.test.ts',
  'core/config/approvals-section.test.ts',
  'core/net.test.ts',
);
