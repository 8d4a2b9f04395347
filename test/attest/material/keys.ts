import {
  constants,
  createHash,
  generateKeyPairSync,
  type KeyObject,
  type SigningOptions,
  sign,
} from 'node:crypto';

/** How somebody’s tool signs: kind of key, hash, and form of the signature. */
export interface Scheme {
  readonly make: () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
  readonly options?: SigningOptions;
}

const ec = (namedCurve: string) => () => generateKeyPairSync('ec', { namedCurve });
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const raw: SigningOptions = { dsaEncoding: 'ieee-p1363' };
const pss = (saltLength?: number): SigningOptions => ({
  padding: constants.RSA_PKCS1_PSS_PADDING,
  ...(saltLength === undefined ? {} : { saltLength }),
});

/** What is in use out there, by name. */
export const schemes: Readonly<Record<string, Scheme>> = {
  'P-256, SHA-256, DER': { make: ec('prime256v1'), hash: 'sha256' },
  'P-256, SHA-256, r‖s': { make: ec('prime256v1'), hash: 'sha256', options: raw },
  'P-384, SHA-384, DER': { make: ec('secp384r1'), hash: 'sha384' },
  'P-384, SHA-384, r‖s': { make: ec('secp384r1'), hash: 'sha384', options: raw },
  'P-384, SHA-256, DER (cosign)': { make: ec('secp384r1'), hash: 'sha256' },
  'P-521, SHA-512, DER': { make: ec('secp521r1'), hash: 'sha512' },
  'P-521, SHA-512, r‖s': { make: ec('secp521r1'), hash: 'sha512', options: raw },
  'P-521, SHA-256, DER (cosign)': { make: ec('secp521r1'), hash: 'sha256' },
  'RSA, SHA-256, PKCS #1': { make: rsa, hash: 'sha256' },
  'RSA, SHA-512, PKCS #1': { make: rsa, hash: 'sha512' },
  'RSA, SHA-256, PSS of the longest salt (in-toto)': { make: rsa, hash: 'sha256', options: pss() },
  'RSA, SHA-256, PSS of a salt like the hash': { make: rsa, hash: 'sha256', options: pss(32) },
  'RSA, SHA-256, PSS without salt': { make: rsa, hash: 'sha256', options: pss(0) },
  Ed25519: { make: () => generateKeyPairSync('ed25519'), hash: null },
};

export function signAs({ hash, options }: Scheme, key: KeyObject, bytes: Buffer): Buffer {
  return sign(hash, bytes, { key, ...options });
}

/** Digests of bytes, as a user gives them. */
export function digestsBy(bytes: Buffer, ...hashes: readonly string[]): Record<string, string> {
  return Object.fromEntries(hashes.map((hash) => [hash, createHash(hash).update(bytes).digest('hex')]));
}

/** A PEM file of these public keys. */
export function pemOf(...keys: readonly KeyObject[]): string {
  return keys.map((key) => String(key.export({ format: 'pem', type: 'spki' }))).join('');
}
