import { room } from './rooms/room.ts';

await room(
  'plugins/artifacts',
  'plugins/supply-chain',
  'bin/commands/sca-import.test.ts',
  'readers/advisories',
);
