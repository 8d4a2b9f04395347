import { room } from './rooms/room.ts';

await room(
  'engine/run/field-effects.test.ts',
  'engine/run/scoped-secrets.test.ts',
  'engine/run/writing-secrets.test.ts',
  'engine/run/network-policy.test.ts',
  'attest/public/public-run.test.ts',
  'attest/signer/keyless-run.test.ts',
);
