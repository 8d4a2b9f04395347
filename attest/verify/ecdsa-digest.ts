/*
 * ECDSA verification over a digest (FIPS 186-5, 6.4.2). Node verifies only what it has hashed itself, and whoever has
 * but the digest of an artifact cannot give it more. Everything here is public, so that nothing has to take constant
 * time.
 */
import type { KeyObject } from 'node:crypto';

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
export function isDigestSignedBy(key: KeyObject, digest: Uint8Array, signature: Uint8Array): boolean {
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
