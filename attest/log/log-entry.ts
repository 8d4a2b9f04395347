import type { KeyObject } from 'node:crypto';
import { canonicalize } from '../../core/base/canonical.ts';
import { sha256, sha256Hex } from '../../core/base/digest.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { type Envelope, preAuthEncoding } from '../encoding/dsse.ts';
import { expectBase64, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { algorithmOf, isSignedBy, toSpki } from '../encoding/public-key.ts';

/** Kind and version of every entry (Rekor v2). */
export const entryKind = { kind: 'hashedrekord', version: '0.0.2' } as const;

const keyDetails = { 'ecdsa-p256-sha256': 'PKIX_ECDSA_P256_SHA_256', ed25519: 'PKIX_ED25519' } as const;
const maxBytes = 65_535;

/**
 * The log entry for an envelope: Rekor v2 `hashedrekord` 0.0.2 over the digest of the signed bytes, in RFC 8785 form.
 * Same envelope and key, same bytes.
 */
export function buildLogEntry(envelope: Envelope, key: KeyObject): Buffer {
  const digest = sha256(preAuthEncoding(envelope.payloadType, envelope.payload));
  const entry = {
    apiVersion: entryKind.version,
    kind: entryKind.kind,
    spec: {
      hashedRekordV002: {
        data: { algorithm: 'SHA2_256', digest: digest.toString('base64') },
        signature: {
          content: envelope.signature.toString('base64'),
          verifier: {
            keyDetails: keyDetails[algorithmOf(key)],
            publicKey: { rawBytes: toSpki(key).toString('base64') },
          },
        },
      },
    },
  };
  return Buffer.from(canonicalize(entry));
}

/** An entry's members, decoded; nothing is verified. */
export interface LogEntry {
  readonly kind: string;
  readonly apiVersion: string;
  readonly algorithm: string;
  readonly digest: Buffer;
  readonly signature: Buffer;
  readonly keyDetails: string;
  readonly publicKey: Buffer;
}

/**
 * Requires that an entry speaks of this envelope and of the key that verified it: kind, digest, signature, key.
 * VERIFY_REFUTED (`mismatch`) naming the member; ATTESTATION_MALFORMED where it is no such entry.
 */
export function verifyLogEntry(body: Uint8Array, envelope: Envelope, key: KeyObject): void {
  const entry = parseLogEntry(body);
  const signed = sha256(preAuthEncoding(envelope.payloadType, envelope.payload));
  const claims: readonly (readonly [string, boolean])[] = [
    ['kind', entry.kind === entryKind.kind],
    ['apiVersion', entry.apiVersion === entryKind.version],
    ['algorithm', entry.algorithm === 'SHA2_256'],
    ['digest', entry.digest.equals(signed)],
    ['signature', entry.signature.equals(envelope.signature)],
    ['keyDetails', entry.keyDetails === keyDetails[algorithmOf(key)]],
    ['publicKey', entry.publicKey.equals(toSpki(key))],
  ];
  const wrong = claims.find(([, holds]) => !holds);
  if (wrong === undefined) return;
  throw new WritError('VERIFY_REFUTED', {
    message: `the log entry is not about this envelope: its ${wrong[0]} differs`,
    detail: { reason: 'mismatch', member: wrong[0] },
  });
}

/** True for an entry that holds a valid signature over exactly these bytes by a key that `findKey` knows by its id. */
export function recordsSignature(
  body: Uint8Array,
  signed: Uint8Array,
  findKey: (keyId: string) => KeyObject | undefined,
): boolean {
  const digest = sha256(signed);
  // Most entries are about something else; reading them all would be slow.
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

/** Reads an entry strictly; ATTESTATION_MALFORMED. */
export function parseLogEntry(body: Uint8Array): LogEntry {
  const entry = expectObject(parseJsonObject(body, maxBytes), '', ['apiVersion', 'kind', 'spec']);
  const spec = expectObject(entry.spec, '/spec', ['hashedRekordV002']);
  const record = expectObject(spec.hashedRekordV002, '/spec/hashedRekordV002', ['data', 'signature']);
  const data = expectObject(record.data, '/data', ['algorithm', 'digest']);
  const signature = expectObject(record.signature, '/signature', ['content', 'verifier']);
  const verifier = expectObject(signature.verifier, '/signature/verifier', ['keyDetails', 'publicKey']);
  const publicKey = expectObject(verifier.publicKey, '/signature/verifier/publicKey', ['rawBytes']);
  return {
    kind: expectText(entry.kind, '/kind'),
    apiVersion: expectText(entry.apiVersion, '/apiVersion'),
    algorithm: expectText(data.algorithm, '/data/algorithm'),
    digest: expectBase64(data.digest, '/data/digest'),
    signature: expectBase64(signature.content, '/signature/content'),
    keyDetails: expectText(verifier.keyDetails, '/keyDetails'),
    publicKey: expectBase64(publicKey.rawBytes, '/publicKey'),
  };
}
