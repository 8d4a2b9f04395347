import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseAnyBundle } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import { canJudgeBy } from '../encoding/public-key.ts';
import type { LogEntry } from '../log/log-entry.ts';
import type { GivenArtifact } from './given-artifact.ts';
import { judgeSignature, type SignatureVerdict } from './judge-signature.ts';

/** What an entry may say of a key of each kind, as long as its digest is by SHA-256. */
const detailsOf: Readonly<Record<string, RegExp>> = {
  prime256v1: /^PKIX_ECDSA_P256_SHA_256$/,
  secp384r1: /^PKIX_ECDSA_P384_SHA_(256|384)$/,
  secp521r1: /^PKIX_ECDSA_P521_SHA_(256|512)$/,
  ed25519: /^PKIX_ED25519$/,
  rsa: /^PKIX_RSA_(PKCS1V15|PSS)_(2048|3072|4096)_SHA256$/,
};

/** The key of an entry, where it is of a kind that is judged here and the entry says so; else `undefined`. */
export function keyOfEntry({ publicKey, keyDetails }: LogEntry): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';
  const known = Object.hasOwn(detailsOf, kind) ? detailsOf[kind] : undefined;
  return canJudgeBy(key) && known?.test(keyDetails) ? key : undefined;
}

/**
 * Whether an entry's signature is its key's over what it is about: a log is believed about what it holds, never about
 * who signed that. By the digest alone where that suffices; Ed25519 needs the artifact itself.
 */
export async function judgeLoggedSignature(
  entry: LogEntry,
  key: KeyObject,
  artifacts: readonly GivenArtifact[],
): Promise<SignatureVerdict> {
  if (entry.algorithm !== 'SHA2_256' || entry.digest.length !== 32) return 'cannot';
  const byDigest = judgeSignature(key, new Map([['sha256', entry.digest]]), entry.signature);
  if (byDigest !== 'cannot') return byDigest;
  const signed = await signedBytes(entry.digest, artifacts);
  return signed ? judgeSignature(key, signed, entry.signature) : 'cannot';
}

/** The bytes of this digest: an artifact's own, or what an envelope signs. */
async function signedBytes(digest: Buffer, artifacts: readonly GivenArtifact[]): Promise<Buffer | undefined> {
  for (const { read } of artifacts) {
    try {
      const bytes = await read?.();
      if (bytes === undefined) continue;
      if (sha256(bytes).equals(digest)) return bytes;
      const { content } = parseAnyBundle(bytes);
      if (content.kind !== 'envelope') continue;
      const signed = preAuthEncoding(content.payloadType, content.payload);
      if (sha256(signed).equals(digest)) return signed;
    } catch (fault) {
      if (!isWritError(fault, 'INPUT_TOO_LARGE') && !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    }
  }
  return undefined;
}
