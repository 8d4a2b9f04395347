import { constants, createHash, type KeyObject, publicDecrypt, verify } from 'node:crypto';
import { readDerSequence } from './der.ts';

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

/*
 * ECDSA verification over a digest (FIPS 186-5, 6.4.2). Node verifies only what it has hashed itself, and whoever has
 * but the digest of an artifact cannot give it more. Everything here is public, so that nothing has to take constant
 * time.
 */
interface Curve {
  /** The field. */
  readonly p: bigint;
  /** Order of the base point. */
  readonly n: bigint;
  readonly g: readonly [x: bigint, y: bigint];
}

/** A point as X/Z², Y/Z³; Z is 0 at infinity. */
type Point = readonly [x: bigint, y: bigint, z: bigint];

const curves: Readonly<Record<string, Curve>> = {
  prime256v1: {
    p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    g: [
      0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
      0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
    ],
  },
  secp384r1: {
    p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    g: [
      0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
      0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
    ],
  },
  secp521r1: {
    p: (1n << 521n) - 1n,
    n: 0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
    g: [
      0x00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
      0x011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
    ],
  },
};

/**
 * True where `signature` (r‖s, each as long as the order) is the key's over this digest. The key is an EC key on P-256,
 * P-384 or P-521.
 */
function isDigestSignedBy(key: KeyObject, digest: Uint8Array, signature: Uint8Array): boolean {
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  if (curve === undefined) return false;
  const { n } = curve;
  const bits = n.toString(2).length;
  const length = Math.ceil(bits / 8);
  if (signature.length !== 2 * length) return false;
  const [r, s] = [toNumber(signature.subarray(0, length)), toNumber(signature.subarray(length))];
  if (r === 0n || r >= n || s === 0n || s >= n) return false;
  const excess = digest.length * 8 - bits;
  const hashed = excess > 0 ? toNumber(digest) >> BigInt(excess) : toNumber(digest);
  const w = inverse(s, n);
  const key1: Point = [toNumber(Buffer.from(x, 'base64url')), toNumber(Buffer.from(y, 'base64url')), 1n];
  const sum = combine(curve, (hashed * w) % n, (r * w) % n, key1);
  const [px, , pz] = sum;
  if (pz === 0n) return false;
  const z = inverse(pz, curve.p);
  return mod(px * z * z, curve.p) % n === r;
}

/** u·G + v·Q, by the bits of both at once. */
function combine(curve: Curve, u: bigint, v: bigint, q: Point): Point {
  const g: Point = [...curve.g, 1n];
  const both = add(curve, g, q);
  let sum: Point = [1n, 1n, 0n];
  for (let bit = BigInt(Math.max(u.toString(2).length, v.toString(2).length)) - 1n; bit >= 0n; bit -= 1n) {
    sum = double(curve, sum);
    const [inU, inV] = [(u >> bit) & 1n, (v >> bit) & 1n];
    if (inU && inV) sum = add(curve, sum, both);
    else if (inU) sum = add(curve, sum, g);
    else if (inV) sum = add(curve, sum, q);
  }
  return sum;
}

/** Doubling where a = -3. */
function double({ p }: Curve, [x, y, z]: Point): Point {
  if (z === 0n || y === 0n) return [1n, 1n, 0n];
  const delta = (z * z) % p;
  const gamma = (y * y) % p;
  const beta = (x * gamma) % p;
  const alpha = mod(3n * (x - delta) * (x + delta), p);
  const x3 = mod(alpha * alpha - 8n * beta, p);
  return [
    x3,
    mod(alpha * (4n * beta - x3) - 8n * gamma * gamma, p),
    mod((y + z) * (y + z) - gamma - delta, p),
  ];
}

function add(curve: Curve, one: Point, other: Point): Point {
  const { p } = curve;
  const [x1, y1, z1] = one;
  const [x2, y2, z2] = other;
  if (z1 === 0n) return other;
  if (z2 === 0n) return one;
  const [zz1, zz2] = [(z1 * z1) % p, (z2 * z2) % p];
  const [u1, u2] = [(x1 * zz2) % p, (x2 * zz1) % p];
  const [s1, s2] = [(y1 * zz2 * z2) % p, (y2 * zz1 * z1) % p];
  if (u1 === u2) return s1 === s2 ? double(curve, one) : [1n, 1n, 0n];
  const [h, r] = [mod(u2 - u1, p), mod(s2 - s1, p)];
  const hh = (h * h) % p;
  const hhh = (h * hh) % p;
  const v = (u1 * hh) % p;
  const x3 = mod(r * r - hhh - 2n * v, p);
  return [x3, mod(r * (v - x3) - s1 * hhh, p), (z1 * z2 * h) % p];
}

function mod(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** By Euclid; the modulus is prime. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, u, v] = [mod(value, modulus), modulus, 1n, 0n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [u, v] = [v, u - quotient * v];
  }
  return mod(u, modulus);
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** DigestInfo of PKCS #1 up to the digest (RFC 8017, 9.2, note 1). */
const digestInfo: Readonly<Record<string, Buffer>> = {
  sha256: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  sha384: Buffer.from('3041300d060960864801650304020205000430', 'hex'),
  sha512: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
};

/**
 * True where an RSA key signed this digest: PKCS #1 v1.5, or PSS with MGF1 of the same hash and a salt of any length.
 */
function isDigestSignedByRsa(
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
