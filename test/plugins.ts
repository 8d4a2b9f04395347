import { room } from './rooms/room.ts';

await room(
  'readers/sensitive',
  'readers/documents/archive',
  'engine/redacted-run.test.ts',
  'bin/commands/redact.test.ts',
  'plugins/redaction',
  'plugins/preview-plugins.test.ts',
  'plugins/evidence',
  'plugins/artifacts',
  'plugins/supply-chain',
  'bin/commands/sca-import.test.ts',
  'readers/advisories',
);
