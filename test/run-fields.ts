import { room } from './rooms/room.ts';

await room(
  'core/run/field-effects.test.ts',
  'core/run/network-policy.test.ts',
  'attest/public/public-run.test.ts',
  'attest/signer/keyless-run.test.ts',
);
