import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { algorithmOf, keyIdOf } from '../encoding/public-key.ts';

/** A signer over a private key in this process's memory. */
export function toSigner(privateKey: KeyObject, ephemeral: boolean): Signer {
  const publicKey = createPublicKey(privateKey);
  return {
    algorithm: algorithmOf(publicKey),
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ephemeral,
    sign: async (data) => signWith(privateKey, data),
  };
}

/** One signature, in the form that {@link Signer.sign} says. */
export function signWith(privateKey: KeyObject, data: Uint8Array): Buffer {
  return sign(algorithmOf(privateKey) === 'ed25519' ? null : 'sha256', data, privateKey);
}

/** A new private key. */
export function generateKey(algorithm: Signer['algorithm']): KeyObject {
  return algorithm === 'ed25519'
    ? generateKeyPairSync('ed25519').privateKey
    : generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

/**
 * Reads a private key (PEM), of exactly that algorithm where one is given. KEY_UNUSABLE names `where` it came from,
 * never what was in it.
 */
export function parsePrivateKey(
  pem: string,
  algorithm: Signer['algorithm'] | undefined,
  where: string,
): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The library's reason is left out: it may describe the secret.
    throw new WritError('KEY_UNUSABLE', {
      message: `${where} is not an unencrypted private key in PEM form`,
      detail: { where },
      hints: /-----BEGIN OPENSSH PRIVATE KEY-----/.test(pem)
        ? ['it is an OpenSSH key: use `[signer] key = "ssh:PATH"`, or `"agent"` for one with a passphrase']
        : ['make one: `openssl genpkey -algorithm ed25519 -out KEY.pem && chmod 600 KEY.pem`'],
    });
  }
  const found = algorithmOf(key);
  if (algorithm === undefined || found === algorithm) return key;
  throw new WritError('KEY_UNUSABLE', {
    message: `${where} must be \`${algorithm}\`, found \`${found}\``,
    detail: { where, expected: algorithm, found },
  });
}
