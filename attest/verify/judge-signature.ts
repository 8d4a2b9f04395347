import { constants, type KeyObject, verify } from 'node:crypto';
import { readDerSequence } from './der.ts';
import { isDigestSignedBy } from './ecdsa-digest.ts';
import { isDigestSignedByRsa } from './rsa-digest.ts';

/** What was signed: its bytes, or where they are not at hand its digests by algorithm (`sha256`, …). */
export type Signed = Buffer | ReadonlyMap<string, Buffer>;

/** `cannot`: it may be the key's over what is not at hand, and nothing says that it is not. */
export type SignatureVerdict = 'holds' | 'does-not' | 'cannot';

/**
 * Octets of r and of s, and the hashes that are in use with a curve: its own, and SHA-256 whatever the curve (cosign).
 */
const curveForms: Readonly<Record<string, { readonly length: number; readonly hashes: readonly string[] }>> =
  {
    prime256v1: { length: 32, hashes: ['sha256'] },
    secp384r1: { length: 48, hashes: ['sha384', 'sha256'] },
    secp521r1: { length: 66, hashes: ['sha512', 'sha256'] },
  };
const rsaHashes: readonly string[] = ['sha256', 'sha384', 'sha512'];

/**
 * Judges a signature by anybody's tool: ECDSA as DER or as r‖s, RSA as PKCS #1 v1.5 or as PSS, Ed25519, which alone
 * cannot be judged by a digest. The key is one of those that `canJudgeBy` of public-key.ts admits; any other judges
 * nothing.
 */
export function judgeSignature(key: KeyObject, signed: Signed, signature: Buffer): SignatureVerdict {
  if (key.asymmetricKeyType === 'ed25519') {
    if (!Buffer.isBuffer(signed)) return 'cannot';
    return verify(null, signed, key, signature) ? 'holds' : 'does-not';
  }
  const curve = curveForms[key.asymmetricKeyDetails?.namedCurve ?? ''];
  const hashes = key.asymmetricKeyType === 'rsa' ? rsaHashes : (curve?.hashes ?? []);
  const verdicts = hashes.map((hash): SignatureVerdict => {
    const holds = curve
      ? isCurveSignature(key, curve.length, hash, signed, signature)
      : isRsaSignature(key, hash, signed, signature);
    return holds === undefined ? 'cannot' : holds ? 'holds' : 'does-not';
  });
  return ['holds' as const, 'cannot' as const].find((one) => verdicts.includes(one)) ?? 'does-not';
}

function isCurveSignature(
  key: KeyObject,
  length: number,
  hash: string,
  signed: Signed,
  signature: Buffer,
): boolean | undefined {
  // A DER signature that is as long as r‖s is possible, if hardly ever: both readings count.
  const raw = [signature.length === 2 * length ? signature : undefined, toRaw(signature, length)].filter(
    (one) => one !== undefined,
  );
  if (Buffer.isBuffer(signed))
    return raw.some((one) => verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, one));
  const digest = signed.get(hash);
  return digest && raw.some((one) => isDigestSignedBy(key, digest, one));
}

function isRsaSignature(
  key: KeyObject,
  hash: string,
  signed: Signed,
  signature: Buffer,
): boolean | undefined {
  if (!Buffer.isBuffer(signed)) {
    const digest = signed.get(hash);
    return digest && isDigestSignedByRsa(key, hash, digest, signature);
  }
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  return verify(hash, signed, key, signature) || verify(hash, signed, { key, ...pss }, signature);
}

/** r and s out of DER, each filled up to `length` octets. */
function toRaw(signature: Buffer, length: number): Buffer | undefined {
  const numbers = readDerSequence(signature);
  if (numbers?.length !== 2 || numbers.some(({ tag, content }) => tag !== 2 || content.length === 0))
    return undefined;
  const parts = numbers.map(({ content }) => {
    const positive = content[0] === 0 && content.length > 1 ? content.subarray(1) : content;
    // A minus sign, or zeroes that DER leaves out: no signature, or another spelling of one.
    const isPlain =
      content[0] === 0 ? content.length > 1 && (content[1] ?? 0) >= 0x80 : (content[0] ?? 0x80) < 0x80;
    return isPlain && positive.length <= length
      ? Buffer.concat([Buffer.alloc(length - positive.length), positive])
      : undefined;
  });
  return parts[0] && parts[1] && Buffer.concat([parts[0], parts[1]]);
}
