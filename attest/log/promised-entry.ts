import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import { expectBase64, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { toSpki } from '../encoding/public-key.ts';
import type { EntryClaim } from './entry-claim.ts';

/**
 * Kind and version of entries in Rekor v1: like ours in v2 a signature over a digest, and nothing of what was signed.
 */
export const promisedEntryKind = { kind: 'hashedrekord', version: '0.0.1' } as const;

const maxBytes = 65_535;

/**
 * Reads a Rekor v1 `hashedrekord` 0.0.1; ATTESTATION_MALFORMED. The verifier in it is a public key or a certificate, in
 * PEM.
 */
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
    if (/^\s*-----BEGIN CERTIFICATE-----/.test(pem)) {
      const certificate = new X509Certificate(pem);
      return { publicKey: toSpki(certificate.publicKey), certificate: certificate.raw };
    }
    const key: KeyObject = createPublicKey(pem);
    return { publicKey: toSpki(key) };
  } catch (cause) {
    throw new WritError('ATTESTATION_MALFORMED', {
      message: 'expected a public key or certificate in PEM at `/spec/signature/publicKey/content`',
      detail: { path: '/spec/signature/publicKey/content' },
      cause,
    });
  }
}
