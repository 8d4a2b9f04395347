import { room } from './rooms/room.ts';

await room(
  'attack/nothing-verified.test.ts',
  'attack/hostile-input.test.ts',
  'attack/mutation.test.ts',
  'attack/material',
  'attack/log-memory',
  'attack/predicates',
  'attack/verify-target',
  'attack/reports',
  'attack/suppressions',
  'attack/secrets-stored',
  'attack/judge',
  'attack/policy',
  'attack/approvals',
  'attack/refs',
  'attack/journal',
);
