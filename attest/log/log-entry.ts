/* The log entries of Rekor: `hashedrekord` 0.0.2, which writ writes, and 0.0.1 of Rekor v1, which it also verifies. */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { canonicalize, sha256, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type Envelope, preAuthEncoding } from '../encoding/dsse.ts';
import {
  expectBase64,
  expectObject,
  expectText,
  type JsonObject,
  malformedAt,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { algorithmOf, isSignedBy, toSpki } from '../encoding/public-key.ts';

/** Kind and version of every entry that writ writes (Rekor v2). */
export const entryKind = { kind: 'hashedrekord', version: '0.0.2' } as const;
/** Kind and version of entries in Rekor v1, which promises the time of an entry. */
export const promisedEntryKind = { kind: 'hashedrekord', version: '0.0.1' } as const;

const keyDetails = { 'ecdsa-p256-sha256': 'PKIX_ECDSA_P256_SHA_256', ed25519: 'PKIX_ED25519' } as const;
const maxBytes = 65_535;

/** What a log entry states: the digest of the signed bytes, the signature, and its verifier. */
export interface EntryClaim {
  /** SHA-256 of the signed bytes. */
  readonly digest: Buffer;
  readonly signature: Buffer;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** DER; absent where a managed key signed. */
  readonly certificate?: Buffer;
}

/** The members of an entry of Rekor v2, decoded and not verified. Its key is the certificate's, where it has one. */
export interface LogEntry extends EntryClaim {
  readonly kind: string;
  readonly apiVersion: string;
  readonly algorithm: string;
  readonly keyDetails: string;
}

/** Writes the entry of an envelope in RFC 8785 form. Same envelope and key, same bytes. */
export function buildLogEntry(envelope: Envelope, key: KeyObject): Buffer {
  const { digest, signature, publicKey } = claimOf(envelope, key);
  const entry = {
    apiVersion: entryKind.version,
    kind: entryKind.kind,
    spec: {
      hashedRekordV002: {
        data: { algorithm: 'SHA2_256', digest: digest.toString('base64') },
        signature: {
          content: signature.toString('base64'),
          verifier: {
            keyDetails: keyDetails[algorithmOf(key)],
            publicKey: { rawBytes: publicKey.toString('base64') },
          },
        },
      },
    },
  };
  return Buffer.from(canonicalize(entry));
}

function claimOf(envelope: Envelope, key: KeyObject, certificate?: Buffer): EntryClaim {
  return {
    digest: sha256(preAuthEncoding(envelope.payloadType, envelope.payload)),
    signature: envelope.signature,
    publicKey: toSpki(key),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

/**
 * Requires that an entry of either version is about this envelope and the key (and certificate) that verified it.
 * `promise` is present for Rekor v1. VERIFY_REFUTED (`mismatch`) names the member; ATTESTATION_MALFORMED.
 */
export function verifyEntryOf(
  { body, promise }: { readonly body: Uint8Array; readonly promise?: unknown },
  envelope: Envelope,
  key: KeyObject,
  certificate?: Buffer,
): void {
  if (promise !== undefined) {
    requireSameClaim(parsePromisedEntry(body), claimOf(envelope, key, certificate));
    return;
  }
  const entry = parseLogEntry(body);
  if (entry.kind !== entryKind.kind) throw differs('kind');
  if (entry.apiVersion !== entryKind.version) throw differs('apiVersion');
  if (entry.algorithm !== 'SHA2_256') throw differs('algorithm');
  requireSameClaim(entry, claimOf(envelope, key, certificate));
  if (entry.keyDetails !== keyDetails[algorithmOf(key)]) throw differs('keyDetails');
}

/** VERIFY_REFUTED (`mismatch`) names the member that differs. */
export function requireSameClaim(found: EntryClaim, expected: EntryClaim): void {
  const isSame = (left: Buffer | undefined, right: Buffer | undefined): boolean =>
    left === undefined || right === undefined ? left === right : left.equals(right);
  const members = ['digest', 'signature', 'publicKey', 'certificate'] as const;
  const wrong = members.find((member) => !isSame(found[member], expected[member]));
  if (wrong !== undefined) throw differs(wrong);
}

function differs(member: string): WritError {
  return new WritError('VERIFY_REFUTED', {
    message: `the log entry is not about this envelope: its ${member} differs`,
    detail: { reason: 'mismatch', member },
  });
}

/** True for an entry with a valid signature over exactly these bytes by a key that `findKey` returns for its id. */
export function recordsSignature(
  body: Uint8Array,
  signed: Uint8Array,
  findKey: (keyId: string) => KeyObject | undefined,
): boolean {
  const digest = sha256(signed);
  // Most entries are about something else, and parsing all of them is slow.
  if (!Buffer.from(body).includes(digest.toString('base64'))) return false;
  try {
    const entry = parseLogEntry(body);
    const key = findKey(sha256Hex(entry.publicKey));
    return key !== undefined && entry.digest.equals(digest) && isSignedBy(key, signed, entry.signature);
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return false;
    throw fault;
  }
}

/** Reads an entry of Rekor v2 strictly; ATTESTATION_MALFORMED. */
export function parseLogEntry(body: Uint8Array): LogEntry {
  const entry = expectObject(parseJsonObject(body, maxBytes), '', ['apiVersion', 'kind', 'spec']);
  const spec = expectObject(entry.spec, '/spec', ['hashedRekordV002']);
  const record = expectObject(spec.hashedRekordV002, '/spec/hashedRekordV002', ['data', 'signature']);
  const data = expectObject(record.data, '/data', ['algorithm', 'digest']);
  const signature = expectObject(record.signature, '/signature', ['content', 'verifier']);
  const { keyDetails, ...verifier } = expectObject(signature.verifier, '/signature/verifier');
  return {
    kind: expectText(entry.kind, '/kind'),
    apiVersion: expectText(entry.apiVersion, '/apiVersion'),
    algorithm: expectText(data.algorithm, '/data/algorithm'),
    digest: expectBase64(data.digest, '/data/digest'),
    signature: expectBase64(signature.content, '/signature/content'),
    keyDetails: expectText(keyDetails, '/keyDetails'),
    ...readVerifierOf(verifier),
  };
}

/** The one verifier of an entry of Rekor v2: a public key, or a certificate as the signer handed it in. */
function readVerifierOf(verifier: JsonObject): Pick<EntryClaim, 'publicKey' | 'certificate'> {
  const at = '/signature/verifier';
  const octetsOf = (name: string): Buffer => {
    const { [name]: value } = expectObject(verifier, at, [name]);
    return expectBase64(expectObject(value, `${at}/${name}`, ['rawBytes']).rawBytes, `/${name}`);
  };
  if (verifier.x509Certificate === undefined) return { publicKey: octetsOf('publicKey') };
  const certificate = octetsOf('x509Certificate');
  try {
    return { publicKey: toSpki(new X509Certificate(certificate).publicKey), certificate };
  } catch (cause) {
    const { message, detail } = malformedAt(`${at}/x509Certificate`, 'a certificate');
    throw new WritError('ATTESTATION_MALFORMED', { message, detail, cause });
  }
}

/** Parses an entry of Rekor v1, with a PEM public key or certificate as its verifier. Throws ATTESTATION_MALFORMED. */
export function parsePromisedEntry(body: Uint8Array): EntryClaim {
  const entry = expectObject(parseJsonObject(body, maxBytes), '', ['apiVersion', 'kind', 'spec']);
  expectText(entry.kind, '/kind', /^hashedrekord$/);
  expectText(entry.apiVersion, '/apiVersion', /^0\.0\.1$/);
  const spec = expectObject(entry.spec, '/spec', ['data', 'signature']);
  const data = expectObject(spec.data, '/spec/data', ['hash']);
  const hash = expectObject(data.hash, '/spec/data/hash', ['algorithm', 'value']);
  expectText(hash.algorithm, '/spec/data/hash/algorithm', /^sha256$/);
  const signature = expectObject(spec.signature, '/spec/signature', ['content', 'publicKey']);
  const { content } = expectObject(signature.publicKey, '/spec/signature/publicKey', ['content']);
  const pem = expectBase64(content, '/spec/signature/publicKey/content').toString('latin1');
  return {
    digest: Buffer.from(expectText(hash.value, '/spec/data/hash/value', /^[0-9a-f]{64}$/), 'hex'),
    signature: expectBase64(signature.content, '/spec/signature/content'),
    ...readVerifier(pem),
  };
}

function readVerifier(pem: string): Pick<EntryClaim, 'publicKey' | 'certificate'> {
  try {
    if (!/^\s*-----BEGIN CERTIFICATE-----/.test(pem)) return { publicKey: toSpki(createPublicKey(pem)) };
    const certificate = new X509Certificate(pem);
    return { publicKey: toSpki(certificate.publicKey), certificate: certificate.raw };
  } catch (cause) {
    throw new WritError('ATTESTATION_MALFORMED', {
      message: 'expected a public key or certificate in PEM at `/spec/signature/publicKey/content`',
      detail: { path: '/spec/signature/publicKey/content' },
      cause,
    });
  }
}
