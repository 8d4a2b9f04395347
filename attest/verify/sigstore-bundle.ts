import type * as Forms from '@sigstore/bundle';
import { type AnyBundle, type Content, hashAlgorithms, type Material } from '../bundle/any-bundle.ts';
import { decodeTlogEntry, type TlogEntry } from '../bundle/tlog-entry.ts';
import { expectAnyBase64, expectObject } from '../encoding/expect-json.ts';
import { refuted } from './report.ts';

/** What the library calls a bundle before it looked at its form. */
type Unchecked = Parameters<typeof Forms.assertBundle>[0];
type UncheckedMaterial = NonNullable<Unchecked['verificationMaterial']>;
type Entry = UncheckedMaterial['tlogEntries'][number];

const at = '/verificationMaterial';

/**
 * A bundle as the sigstore library takes it, made from what the one reading of it gave: the library parses no JSON of
 * it. Log entries and time stamps, which that reading hands on as they stand, are decoded here, entries by the one
 * decoding of them. `forms` is the library, which refuses what a version of the format does not allow.
 * ATTESTATION_MALFORMED.
 */
export function toSigstoreBundle(bundle: AnyBundle, forms: typeof Forms): Forms.Bundle {
  const { mediaType, timestamps, entries } = bundle;
  const given: Unchecked = {
    mediaType,
    content: toContent(bundle.content),
    verificationMaterial: {
      content: toMaterial(bundle.material),
      tlogEntries: entries.map((entry, n) => toEntry(decodeTlogEntry(entry, `${at}/tlogEntries/${n}`))),
      timestampVerificationData: {
        rfc3161Timestamps: timestamps.map((stamp, n) => {
          const path = `${at}/timestampVerificationData/${n}`;
          return { signedTimestamp: octets(expectObject(stamp, path).signedTimestamp, path) };
        }),
      },
    },
  };
  if (mediaType === forms.BUNDLE_V01_MEDIA_TYPE) forms.assertBundleV01(given);
  else if (mediaType === forms.BUNDLE_V02_MEDIA_TYPE) forms.assertBundleV02(given);
  else forms.assertBundleLatest(given);
  return given;
}

function toContent(content: Content): NonNullable<Unchecked['content']> {
  if (content.kind === 'envelope') {
    const { payloadType, payload, signatures } = content;
    const listed = signatures.map(({ hint, signature }) => ({ keyid: hint, sig: signature }));
    return { $case: 'dsseEnvelope', dsseEnvelope: { payloadType, payload, signatures: listed } };
  }
  const algorithm = hashAlgorithms.indexOf(content.algorithm);
  if (algorithm < 0) throw refuted('malformed', { found: `a digest by \`${content.algorithm}\`` });
  const { digest, signature } = content;
  return { $case: 'messageSignature', messageSignature: { messageDigest: { algorithm, digest }, signature } };
}

function toMaterial(material: Material): NonNullable<UncheckedMaterial['content']> {
  if (material.kind === 'key') return { $case: 'publicKey', publicKey: { hint: material.hint } };
  const { der, chain } = material;
  if (chain === undefined) return { $case: 'certificate', certificate: { rawBytes: der } };
  const path = `${at}/x509CertificateChain`;
  const more = chain.map((one) => ({ rawBytes: expectAnyBase64(expectObject(one, path).rawBytes, path) }));
  return {
    $case: 'x509CertificateChain',
    x509CertificateChain: { certificates: [{ rawBytes: der }, ...more] },
  };
}

function toEntry({ logIndex, logId, kind, integratedTime, promise, proof, body }: TlogEntry): Entry {
  const checkpoint = proof?.checkpoint;
  return {
    logIndex,
    logId: logId && { keyId: logId },
    kindVersion: kind,
    integratedTime,
    inclusionPromise: promise && { signedEntryTimestamp: promise },
    inclusionProof: proof && {
      ...proof,
      hashes: [...proof.hashes],
      checkpoint: checkpoint === undefined ? undefined : { envelope: checkpoint },
    },
    canonicalizedBody: body,
  };
}

/** Octets, of which there may be none. */
function octets(value: unknown, path: string): Buffer {
  return value === undefined || value === '' ? Buffer.alloc(0) : expectAnyBase64(value, path);
}
