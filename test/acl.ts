import { room } from './rooms/room.ts';

await room(
  'engine/tool/shell.test.ts',
  'engine/tool/shell-suites.test.ts',
  'engine/tool/acl.test.ts',
  'engine/tool/check-environment.test.ts',
  'engine/tool/plainly-allowed.test.ts',
);
