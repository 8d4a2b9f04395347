import { room } from './rooms/room.ts';

await room(
  'attest/dsse.test.ts',
  'attest/word-cases.test.ts',
  'attest/plugin.test.ts',
  'attest/log',
  'attest/verify',
  'attest/signer/id-token.test.ts',
  'attest/signer/keys.test.ts',
  'attest/signer/ssh-keys.test.ts',
  'attest/signer/user-journal-witness.test.ts',
  'attest/signer/keyless.test.ts',
  'attest/signer/keyless-stamped.test.ts',
  'attest/signer/conformance.test.ts',
  'attest/public/signing-config.test.ts',
  'attest/public/rekor.test.ts',
  'attest/public/growth.test.ts',
  'attest/public/pinned-log.test.ts',
  'attest/statement',
  'attest/material',
  'attest/sigstore-interop.test.ts',
  'attest/approval',
);
