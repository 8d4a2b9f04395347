import { room } from './rooms/room.ts';

await room(
  'core/privacy',
  'core/run/redacted-run.test.ts',
  'bin/commands/redact.test.ts',
  'plugins/redaction',
  'plugins/testers/store-tester.test.ts',
);
