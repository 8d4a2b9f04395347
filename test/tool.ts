import { room } from './rooms/room.ts';

await room(
  'engine/tool/egress',
  'engine/tool/host-view.test.ts',
  'engine/tool/init.test.ts',
  'engine/tool/launcher.test.ts',
  'engine/tool/no-sandbox.test.ts',
  'engine/tool/pick-sandbox.test.ts',
  'engine/tool/sandbox-as-user.test.ts',
  'engine/tool/sandbox-attack.test.ts',
  'engine/tool/sandbox-probe.test.ts',
  'engine/tool/spawn.test.ts',
  'engine/tool/syscall-filter.test.ts',
);
