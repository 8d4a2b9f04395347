import { constants, createHash, type KeyObject, publicDecrypt } from 'node:crypto';

/** DigestInfo of PKCS #1 up to the digest (RFC 8017, 9.2, note 1). */
const digestInfo: Readonly<Record<string, Buffer>> = {
  sha256: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  sha384: Buffer.from('3041300d060960864801650304020205000430', 'hex'),
  sha512: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
};

/**
 * True where an RSA key signed this digest: PKCS #1 v1.5, or PSS with MGF1 of the same hash and a salt of any length.
 */
export function isDigestSignedByRsa(
  key: KeyObject,
  algorithm: string,
  digest: Uint8Array,
  signature: Uint8Array,
): boolean {
  const prefix = digestInfo[algorithm];
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (prefix === undefined || signature.length !== Math.ceil(bits / 8)) return false;
  let encoded: Buffer;
  try {
    encoded = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
  } catch {
    // A number above the modulus.
    return false;
  }
  const info = Buffer.concat([Buffer.of(0), prefix, digest]);
  const padding = Buffer.alloc(encoded.length - info.length, 0xff);
  padding[0] = 0;
  padding[1] = 1;
  return encoded.equals(Buffer.concat([padding, info])) || isPss(encoded, bits - 1, algorithm, digest);
}

/** EMSA-PSS-VERIFY (RFC 8017, 9.1.2), the salt as long as it is found to be. */
function isPss(encoded: Buffer, bits: number, algorithm: string, digest: Uint8Array): boolean {
  const length = Math.ceil(bits / 8);
  // A modulus of 8k+1 bits leaves an octet that has to be 0.
  const message = encoded.subarray(encoded.length - length);
  if (encoded.subarray(0, encoded.length - length).some((octet) => octet !== 0)) return false;
  const size = digest.length;
  if (length < 2 * size + 2 || message.at(-1) !== 0xbc) return false;
  const masked = message.subarray(0, length - size - 1);
  const hash = message.subarray(length - size - 1, -1);
  const unused = 8 * length - bits;
  const kept = 0xff >> unused;
  if (((masked[0] ?? 0) & ~kept & 0xff) !== 0) return false;
  const mask = maskOf(hash, masked.length, algorithm);
  const block = Buffer.from(masked.map((octet, n) => octet ^ (mask[n] ?? 0)));
  block[0] = (block[0] ?? 0) & kept;
  const one = block.findIndex((octet) => octet !== 0);
  if (one < 0 || block[one] !== 1) return false;
  const found = createHash(algorithm)
    .update(Buffer.alloc(8))
    .update(digest)
    .update(block.subarray(one + 1));
  return found.digest().equals(hash);
}

/** MGF1. */
function maskOf(seed: Buffer, length: number, algorithm: string): Buffer {
  const parts: Buffer[] = [];
  for (let counter = 0, total = 0; total < length; counter += 1) {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(counter);
    const part = createHash(algorithm).update(seed).update(number).digest();
    parts.push(part);
    total += part.length;
  }
  return Buffer.concat(parts);
}
