import { room } from './rooms/room.ts';

await room(
  'core/tool/egress',
  'core/tool/host-view.test.ts',
  'core/tool/init.test.ts',
  'core/tool/launcher.test.ts',
  'core/tool/no-sandbox.test.ts',
  'core/tool/pick-sandbox.test.ts',
  'core/tool/sandbox-as-user.test.ts',
  'core/tool/sandbox-attack.test.ts',
  'core/tool/sandbox-probe.test.ts',
  'core/tool/spawn.test.ts',
  'core/tool/syscall-filter.test.ts',
);
