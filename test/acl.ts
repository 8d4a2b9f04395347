import { room } from './rooms/room.ts';

await room(
  'core/tool/shell.test.ts',
  'core/tool/acl.test.ts',
  'core/tool/check-environment.test.ts',
  'core/tool/plainly-allowed.test.ts',
);
