import { room } from './rooms/room.ts';

await room(
  'readers/sensitive',
  'engine/run/redacted-run.test.ts',
  'bin/commands/redact.test.ts',
  'plugins/redaction',
  'plugins/testers/store-tester.test.ts',
);
