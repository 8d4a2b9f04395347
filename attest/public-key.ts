import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256Hex } from '../core/base/digest.ts';
import { WritError } from '../core/base/errors.ts';
import type { Signer } from '../core/contract/signer.ts';

/** The SubjectPublicKeyInfo of a key, DER. */
export function toSpki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** Lower-case hex SHA-256 of the SubjectPublicKeyInfo: the key id that verifiers pin. */
export function keyIdOf(key: KeyObject): string {
  return sha256Hex(toSpki(key));
}

/** What the key signs with; KEY_UNUSABLE for anything but ECDSA P-256 and Ed25519. */
export function algorithmOf(key: KeyObject): Signer['algorithm'] {
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519';
  if (key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') {
    return 'ecdsa-p256-sha256';
  }
  throw new WritError('KEY_UNUSABLE', {
    message: `expected an ECDSA P-256 or Ed25519 key, found \`${key.asymmetricKeyType ?? key.type}\``,
  });
}

/** Reads a public key (PEM, SubjectPublicKeyInfo); a private key or anything else is KEY_UNUSABLE. */
export function parsePublicKey(pem: string): KeyObject {
  // createPublicKey would also derive one from a private key, which has no business where anchors are kept.
  if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) {
    throw new WritError('KEY_UNUSABLE', {
      message: 'expected PEM that begins with `-----BEGIN PUBLIC KEY-----`',
    });
  }
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw new WritError('KEY_UNUSABLE', { message: 'the public key cannot be read', cause });
  }
  algorithmOf(key);
  return key;
}

/** True when `signature` is the key's over `data`, in the form that {@link Signer.sign} makes. */
export function isSignedBy(key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  return verify(algorithmOf(key) === 'ed25519' ? null : 'sha256', data, key, signature);
}
