/* Public keys: their ids, the kinds that sign and verify here, and PEM files of them. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';

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
  if (isOurs(key)) return key.asymmetricKeyType === 'ed25519' ? 'ed25519' : 'ecdsa-p256-sha256';
  throw new WritError('KEY_UNUSABLE', {
    message: `expected an ECDSA P-256 or Ed25519 key, found \`${key.asymmetricKeyType ?? key.type}\``,
  });
}

/**
 * Reads a public key (PEM, SubjectPublicKeyInfo) of the kinds that we sign with; a private key or anything else is
 * KEY_UNUSABLE.
 */
export function parsePublicKey(pem: string): KeyObject {
  // createPublicKey would also derive one from a private key, which has no business where anchors are kept.
  if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) {
    throw new WritError('KEY_UNUSABLE', {
      message: 'expected PEM that begins with `-----BEGIN PUBLIC KEY-----`',
    });
  }
  const key = readKey(pem);
  algorithmOf(key);
  return key;
}

const maxKeys = 100;

/**
 * Reads the public keys of a PEM file that verify signatures of any tool: ECDSA P-256, P-384 and P-521, Ed25519, RSA of
 * 2,048 to 16,384 bits (SubjectPublicKeyInfo or PKCS#1), up to 100 of them. Text around them is ignored. Any other
 * block, a private key above all, is KEY_UNUSABLE.
 */
export function parsePublicKeys(pem: string): readonly KeyObject[] {
  const blocks = [...pem.matchAll(/-----BEGIN ([^\n-]{0,64})-----[^-]{0,20000}-----END \1-----/g)];
  const begun = pem.split('-----BEGIN ').length - 1;
  if (blocks.length === 0 || blocks.length !== begun || blocks.length > maxKeys)
    throw new WritError('KEY_UNUSABLE', {
      message: `expected PEM with 1 to ${maxKeys} public keys, found ${blocks.length} whole blocks of ${begun}`,
    });
  return blocks.map(([block, label = '']) => {
    if (label !== 'PUBLIC KEY' && label !== 'RSA PUBLIC KEY')
      throw new WritError('KEY_UNUSABLE', {
        message: `expected PEM blocks \`PUBLIC KEY\`, found \`${label}\``,
      });
    const key = readKey(block);
    if (!canVerifyBy(key))
      throw new WritError('KEY_UNUSABLE', {
        message: `expected an ECDSA key on P-256, P-384 or P-521, an Ed25519 key, or RSA of 2,048 to 16,384 bits, found \`${kindOf(key)}\``,
      });
    return key;
  });
}

function readKey(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (cause) {
    throw new WritError('KEY_UNUSABLE', { message: 'the public key cannot be read', cause });
  }
}

/** True for a key of a kind that verifies signatures here. */
export function canVerifyBy(key: KeyObject): boolean {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') return modulusLength >= 2048 && modulusLength <= 16_384;
  if (key.asymmetricKeyType === 'ec') return ['prime256v1', 'secp384r1', 'secp521r1'].includes(namedCurve);
  return key.asymmetricKeyType === 'ed25519';
}

function kindOf(key: KeyObject): string {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  return [key.asymmetricKeyType ?? key.type, namedCurve ?? modulusLength].filter(Boolean).join(' ');
}

/**
 * True when `signature` is the key's over `data`, in the form that {@link Signer.sign} makes; never by a key of a kind
 * that does not sign here.
 */
export function isSignedBy(key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  return isOurs(key) && verify(algorithmOf(key) === 'ed25519' ? null : 'sha256', data, key, signature);
}

/** True for the kinds of keys that {@link algorithmOf} knows. */
export function isOurs({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return (
    asymmetricKeyType === 'ed25519' ||
    (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1')
  );
}
