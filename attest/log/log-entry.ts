import type { KeyObject } from 'node:crypto';
import { canonicalize } from '../../core/base/canonical.ts';
import { sha256 } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { type Envelope, preAuthEncoding } from '../dsse.ts';
import { expectBase64, expectObject, expectText, parseJsonObject } from '../expect-json.ts';
import { algorithmOf, toSpki } from '../public-key.ts';

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

/**
 * Requires that an entry speaks of this envelope and of the key that verified it: kind, digest, signature, key.
 * VERIFY_REFUTED (`mismatch`) naming the member; ATTESTATION_MALFORMED where it is no such entry.
 */
export function verifyLogEntry(body: Uint8Array, envelope: Envelope, key: KeyObject): void {
  const entry = expectObject(parseJsonObject(body, maxBytes), '', ['apiVersion', 'kind', 'spec']);
  const spec = expectObject(entry.spec, '/spec', ['hashedRekordV002']);
  const record = expectObject(spec.hashedRekordV002, '/spec/hashedRekordV002', ['data', 'signature']);
  const data = expectObject(record.data, '/data', ['algorithm', 'digest']);
  const signature = expectObject(record.signature, '/signature', ['content', 'verifier']);
  const verifier = expectObject(signature.verifier, '/signature/verifier', ['keyDetails', 'publicKey']);
  const publicKey = expectObject(verifier.publicKey, '/signature/verifier/publicKey', ['rawBytes']);
  const signed = sha256(preAuthEncoding(envelope.payloadType, envelope.payload));
  const claims: readonly (readonly [string, boolean])[] = [
    ['kind', expectText(entry.kind, '/kind') === entryKind.kind],
    ['apiVersion', expectText(entry.apiVersion, '/apiVersion') === entryKind.version],
    ['algorithm', expectText(data.algorithm, '/data/algorithm') === 'SHA2_256'],
    ['digest', expectBase64(data.digest, '/data/digest').equals(signed)],
    ['signature', expectBase64(signature.content, '/signature/content').equals(envelope.signature)],
    ['keyDetails', expectText(verifier.keyDetails, '/keyDetails') === keyDetails[algorithmOf(key)]],
    ['publicKey', expectBase64(publicKey.rawBytes, '/publicKey').equals(toSpki(key))],
  ];
  const wrong = claims.find(([, holds]) => !holds);
  if (wrong === undefined) return;
  throw new WritError('VERIFY_REFUTED', {
    message: `the log entry is not about this envelope: its ${wrong[0]} differs`,
    detail: { reason: 'mismatch', member: wrong[0] },
  });
}
