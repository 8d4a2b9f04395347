import { room } from './rooms/room.ts';

await room(
  'engine/tool/bounded-capture.test.ts',
  'engine/tool/egress',
  'plugins/sandbox/conformance.test.ts',
  'plugins/sandbox/host-view.test.ts',
  'plugins/sandbox/init.test.ts',
  'plugins/sandbox/traced.test.ts',
  'readers/trace',
  'plugins/sandbox/launcher.test.ts',
  'plugins/sandbox/no-sandbox.test.ts',
  'engine/tool/find-agent.test.ts',
  'engine/tool/pick-sandbox.test.ts',
  'plugins/sandbox/sandbox-as-user.test.ts',
  'plugins/sandbox/sandbox-attack.test.ts',
  'plugins/sandbox/sandbox-probe.test.ts',
  'engine/tool/spawn.test.ts',
  'plugins/sandbox/syscall-filter.test.ts',
  'plugins/sandbox/withheld-programs.test.ts',
);
