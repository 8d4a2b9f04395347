import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { type LedgerKey, parseNote, witnessKeyFor } from '../../../attest/log/note.ts';
import { cosignedMessage } from '../../../attest/log/witness-policy.ts';

/** A witness that signs whatever it is shown. */
export interface TestWitness {
  readonly key: LedgerKey;
  /** Its signature line for a checkpoint. */
  readonly line: (source: string, atSeconds?: bigint) => string;
}

/** A witness of that name with a key of its own, or with the one given. */
export function makeWitness(name: string, secret: KeyObject = generateKey('ed25519')): TestWitness {
  const key = witnessKeyFor(name, createPublicKey(secret));
  return {
    key,
    line: (source, atSeconds = 1_700_000_000n) => {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(atSeconds);
      const signature = sign(null, cosignedMessage(parseNote(source).text, atSeconds), secret);
      const blob = Buffer.concat([key.keyId.subarray(0, 4), time, signature]);
      return `— ${name} ${blob.toString('base64')}\n`;
    },
  };
}
