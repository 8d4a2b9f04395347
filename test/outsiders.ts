import { room } from './rooms/room.ts';

await room(
  'core/config/plugins-section.test.ts',
  'core/plugin-trust',
  'core/worker/outside-rule.test.ts',
  'plugins/cedar',
  'bin/commands/plugin.test.ts',
);
