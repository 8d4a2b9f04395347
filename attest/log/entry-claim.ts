import type { KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Envelope, preAuthEncoding } from '../encoding/dsse.ts';
import { toSpki } from '../encoding/public-key.ts';

/** What a log entry says was signed, how, and by whom. */
export interface EntryClaim {
  /** SHA-256 of the signed bytes. */
  readonly digest: Buffer;
  readonly signature: Buffer;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** Where the key is a certificate's: DER. */
  readonly certificate?: Buffer;
}

/** What the entry of an envelope must say. */
export function claimOf(envelope: Envelope, key: KeyObject, certificate?: Buffer): EntryClaim {
  return {
    digest: sha256(preAuthEncoding(envelope.payloadType, envelope.payload)),
    signature: envelope.signature,
    publicKey: toSpki(key),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

/** Requires that an entry says what was handed in; VERIFY_REFUTED (`mismatch`) naming the member. */
export function requireSameClaim(found: EntryClaim, expected: EntryClaim): void {
  const isSame = (left: Buffer | undefined, right: Buffer | undefined): boolean =>
    left === undefined || right === undefined ? left === right : left.equals(right);
  const members = ['digest', 'signature', 'publicKey', 'certificate'] as const;
  const wrong = members.find((member) => !isSame(found[member], expected[member]));
  if (wrong === undefined) return;
  throw new WritError('VERIFY_REFUTED', {
    message: `the log entry is not about this envelope: its ${wrong} differs`,
    detail: { reason: 'mismatch', member: wrong },
  });
}
