import { room } from './rooms/room.ts';

await room(
  'workspace/process/bounded-capture.test.ts',
  'workspace/egress',
  'plugins/sandbox/conformance.test.ts',
  'plugins/sandbox/corepack-cache.test.ts',
  'plugins/sandbox/hidden-repository.test.ts',
  'plugins/sandbox/host-view.test.ts',
  'plugins/sandbox/init.test.ts',
  'plugins/sandbox/kept-probe.test.ts',
  'plugins/sandbox/traced.test.ts',
  'readers/trace',
  'plugins/sandbox/launcher.test.ts',
  'plugins/sandbox/no-sandbox.test.ts',
  'workspace/process/find-agent.test.ts',
  'workspace/process/pick-sandbox.test.ts',
  'plugins/sandbox/sandbox-as-user.test.ts',
  'plugins/sandbox/sandbox-attack.test.ts',
  'plugins/sandbox/sandbox-probe.test.ts',
  'workspace/process/spawn.test.ts',
  'plugins/sandbox/syscall-filter.test.ts',
  'plugins/sandbox/withheld-programs.test.ts',
);
