import { room } from './rooms/room.ts';

await room(
  'engine/config/plugins-section.test.ts',
  'plugins/third-party',
  'plugins/policy-engines',
  'bin/commands/plugin.test.ts',
  'bin/commands/plugin-provider.test.ts',
  'bin/plugin',
  'bin/commands/plugin-secrets.test.ts',
  'bin/commands/plugin-pages.test.ts',
  'bin/commands/plugin-cut.test.ts',
  'bin/commands/plugin-cases.test.ts',
  'bin/commands/plugin-silent.test.ts',
  'bin/commands/plugin-log.test.ts',
  'bin/commands/plugin-stage-check.test.ts',
  'bin/commands/plugin-pack.test.ts',
  'bin/commands/plugin-artifact.test.ts',
  'bin/commands/plugin-evidence.test.ts',
);
