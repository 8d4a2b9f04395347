/* Verifies one signature in every form of signing tools, over bytes or over digests of absent bytes. */
import { constants, type KeyObject, publicDecrypt, verify } from 'node:crypto';

/** Digests of the signed bytes by algorithm (`sha256`, …), and the curves that verify ECDSA over a digest. */
export interface SignedDigests {
  readonly digests: ReadonlyMap<string, Buffer>;
  readonly curves: typeof import('@noble/curves/nist.js');
}

/** The signed bytes, or their digests where the bytes are not available. */
export type Signed = Buffer | SignedDigests;

/** `cannot`: the signature may be valid over bytes that are not available. */
export type SignatureVerdict = 'holds' | 'does-not' | 'cannot';

/** Loads the curves: Node verifies ECDSA only over bytes that it hashes itself. */
export async function signedDigests(digests: ReadonlyMap<string, Buffer>): Promise<SignedDigests> {
  return { digests, curves: await import('@noble/curves/nist.js') };
}

/** Octets of r and of s, and the hashes in use with a curve: its own, and SHA-256 with any curve (cosign). */
const curveForms = {
  prime256v1: { curve: 'p256', length: 32, hashes: ['sha256'] },
  secp384r1: { curve: 'p384', length: 48, hashes: ['sha384', 'sha256'] },
  secp521r1: { curve: 'p521', length: 66, hashes: ['sha512', 'sha256'] },
} as const;
type CurveForm = (typeof curveForms)[keyof typeof curveForms];

/** DigestInfo of PKCS #1 up to the digest (RFC 8017, 9.2, note 1). */
const digestInfo = {
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
} as const;
type Hash = keyof typeof digestInfo;
const rsaHashes: readonly Hash[] = ['sha256', 'sha384', 'sha512'];

/**
 * Verifies ECDSA as DER or as r‖s, RSA as PKCS #1 v1.5 or as PSS, and Ed25519. Ed25519 and PSS need the bytes. The key
 * is of a kind that `canVerifyBy` of public-key.ts admits; no signature of another key verifies.
 */
export function signatureVerdict(key: KeyObject, signed: Signed, signature: Buffer): SignatureVerdict {
  if (key.asymmetricKeyType === 'ed25519') {
    if (!Buffer.isBuffer(signed)) return 'cannot';
    return verify(null, signed, key, signature) ? 'holds' : 'does-not';
  }
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const form = Object.hasOwn(curveForms, namedCurve)
    ? curveForms[namedCurve as keyof typeof curveForms]
    : undefined;
  const hashes: readonly Hash[] = key.asymmetricKeyType === 'rsa' ? rsaHashes : (form?.hashes ?? []);
  const verdicts = hashes.map((hash): SignatureVerdict => {
    if (Buffer.isBuffer(signed))
      return isOverBytes(key, form, hash, signed, signature) ? 'holds' : 'does-not';
    const digest = signed.digests.get(hash);
    if (digest === undefined) return 'cannot';
    if (form) return isOverDigest(key, form, signed.curves, digest, signature) ? 'holds' : 'does-not';
    return rsaVerdict(key, hash, digest, signature);
  });
  return (['holds', 'cannot'] as const).find((one) => verdicts.includes(one)) ?? 'does-not';
}

function isOverBytes(
  key: KeyObject,
  form: CurveForm | undefined,
  hash: Hash,
  signed: Buffer,
  signature: Buffer,
): boolean {
  // The default form is DER for ECDSA and PKCS #1 v1.5 for RSA.
  if (verify(hash, signed, key, signature)) return true;
  if (form)
    return (
      signature.length === 2 * form.length &&
      verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
    );
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  return verify(hash, signed, { key, ...pss }, signature);
}

function isOverDigest(
  key: KeyObject,
  { curve, length }: CurveForm,
  curves: SignedDigests['curves'],
  digest: Buffer,
  signature: Buffer,
): boolean {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return (['der', 'compact'] as const).some((format) => {
    if (format === 'compact' && signature.length !== 2 * length) return false;
    try {
      // Other signers do not make s the smaller of its two values.
      return curves[curve].verify(signature, digest, point, { prehash: false, lowS: false, format });
    } catch {
      // The library throws on a signature that is not of the format.
      return false;
    }
  });
}

/** Verifies PKCS #1 v1.5 over a digest; a signature in the form of PSS needs the bytes. */
function rsaVerdict(key: KeyObject, hash: Hash, digest: Buffer, signature: Buffer): SignatureVerdict {
  const expected = Buffer.concat([Buffer.from(digestInfo[hash], 'hex'), digest]);
  const opened = openRsa(key, constants.RSA_PKCS1_PADDING, signature);
  if (opened) return opened.equals(expected) ? 'holds' : 'does-not';
  // EMSA-PSS ends in this octet (RFC 8017, 9.1.1).
  return openRsa(key, constants.RSA_NO_PADDING, signature)?.at(-1) === 0xbc ? 'cannot' : 'does-not';
}

/** What the signature encodes; `undefined` for another padding or another length. */
function openRsa(key: KeyObject, padding: number, signature: Buffer): Buffer | undefined {
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (signature.length !== Math.ceil(modulusLength / 8)) return undefined;
  try {
    return publicDecrypt({ key, padding }, signature);
  } catch {
    return undefined;
  }
}
