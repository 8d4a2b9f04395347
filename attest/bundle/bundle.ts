import { X509Certificate } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import { type Envelope, parseEnvelope } from '../encoding/dsse.ts';
import {
  expectArray,
  expectBase64,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import { entryKind } from '../log/log-entry.ts';
import { promisedEntryKind } from '../log/promised-entry.ts';
import { type AnyBundle, readBundle } from './any-bundle.ts';
import { type BundledProof, parseTlogEntry } from './bundled-proof.ts';

/** Media type of sigstore bundle v0.3. */
const bundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** A sigstore bundle around one DSSE envelope. Nothing in it is verified yet. */
export interface Bundle {
  readonly envelope: Envelope;
  /** Absent: the envelope was not logged. */
  readonly proof: BundledProof | undefined;
  /** The signer's, DER; absent where a managed key signed. */
  readonly certificate?: Buffer;
}

/** A bundle in the form that `formatBundle` writes, and what any bundle says, out of one reading. */
export interface Seal {
  readonly bundle: Bundle;
  readonly read: AnyBundle;
}

const maxBytes = 4 * 1024 * 1024;

/** Writes a bundle: key hint or certificate, envelope, at most one log entry. Same input, same bytes. */
export function formatBundle({ envelope, proof, certificate }: Bundle): string {
  return JSON.stringify({
    mediaType: bundleMediaType,
    verificationMaterial: {
      ...(certificate === undefined
        ? { publicKey: { hint: envelope.keyId } }
        : { certificate: { rawBytes: certificate.toString('base64') } }),
      tlogEntries: proof === undefined ? [] : [toTlogEntry(proof)],
    },
    dsseEnvelope: toDsseEnvelope(envelope),
  });
}

/** An envelope as JSON holds it (DSSE 1.0, Envelope). */
export function toDsseEnvelope(envelope: Envelope): {
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly { readonly sig: string; readonly keyid: string }[];
} {
  return {
    payload: envelope.payload.toString('base64'),
    payloadType: envelope.payloadType,
    signatures: [{ sig: envelope.signature.toString('base64'), keyid: envelope.keyId }],
  };
}

function toTlogEntry(proof: BundledProof): unknown {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const { promise } = proof;
  return {
    logIndex: String(promise?.logIndex ?? proof.logIndex),
    logId: { keyId: text(proof.logId) },
    kindVersion: promise === undefined ? entryKind : promisedEntryKind,
    integratedTime: String(promise?.integratedTime ?? 0),
    ...(promise === undefined ? {} : { inclusionPromise: { signedEntryTimestamp: text(promise.signature) } }),
    inclusionProof: {
      logIndex: String(proof.logIndex),
      rootHash: text(proof.rootHash),
      treeSize: String(proof.treeSize),
      hashes: proof.hashes.map(text),
      checkpoint: { envelope: proof.checkpoint },
    },
    canonicalizedBody: text(proof.body),
  };
}

/** {@link readSeal}, where nothing but our own form is asked for. */
export function parseBundle(bytes: Uint8Array): Bundle {
  return readSeal(bytes).bundle;
}

/**
 * Reads the form that `formatBundle` writes: strict JSON up to 4 MiB and 32 levels, no other member, one signature
 * whose key id equals the hint or is that of the certificate, at most one log entry. ATTESTATION_MALFORMED. The form is
 * a check of the document; what is in it comes from the one reading of bundles.
 */
export function readSeal(bytes: Uint8Array): Seal {
  const document = parseJsonObject(bytes, maxBytes);
  const { proof, keyId } = requireOwnForm(document);
  const read = readBundle(document);
  const { content, material } = read;
  if (content.kind !== 'envelope') throw malformed('an envelope', '/dsseEnvelope');
  const { payloadType, payload, signatures } = content;
  const [{ hint, signature }] = signatures;
  if (material.kind === 'certificate') requireKey(material.der, certificateAt, keyId);
  return {
    bundle: {
      envelope: { payloadType, payload, keyId: hint, signature },
      proof,
      ...(material.kind === 'certificate' ? { certificate: material.der } : {}),
    },
    read,
  };
}

const materialAt = '/verificationMaterial';
const certificateAt = `${materialAt}/certificate`;

/** No other member, nothing unset, one spelling of everything; and the log entry, which we write in one kind only. */
function requireOwnForm(document: JsonObject): Pick<Bundle, 'proof'> & Pick<Envelope, 'keyId'> {
  const at = materialAt;
  const bundle = expectObject(document, '', ['mediaType', 'verificationMaterial', 'dsseEnvelope']);
  expectText(bundle.mediaType, '/mediaType', /^application\/vnd\.dev\.sigstore\.bundle\.v0\.3\+json$/);
  const all = expectObject(bundle.verificationMaterial, at);
  const kind = all.certificate === undefined ? 'publicKey' : 'certificate';
  const material = expectObject(all, at, [kind, 'tlogEntries']);
  const { keyId } = parseEnvelope(bundle.dsseEnvelope, '/dsseEnvelope');
  if (kind === 'publicKey') {
    const { hint } = expectObject(material.publicKey, `${at}/publicKey`, ['hint']);
    expectText(hint, `${at}/publicKey/hint`, new RegExp(`^${keyId}$`));
  } else {
    const { rawBytes } = expectObject(material.certificate, certificateAt, ['rawBytes']);
    expectBase64(rawBytes, `${certificateAt}/rawBytes`);
  }
  const [entry] = expectArray(material.tlogEntries, `${at}/tlogEntries`, 1);
  return { keyId, proof: entry === undefined ? undefined : parseTlogEntry(entry, `${at}/tlogEntries/0`) };
}

/** Requires a certificate whose key is the one that the envelope names. */
function requireKey(der: Buffer, at: string, keyId: string): void {
  try {
    const certificate = new X509Certificate(der);
    // What follows the certificate would make two bundles out of one.
    if (certificate.raw.equals(der) && keyIdOf(certificate.publicKey) === keyId) return;
  } catch {
    // Told below.
  }
  throw malformed(`the certificate of key \`${keyId}\``, at, keyId);
}

function malformed(what: string, path: string, expected = what): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${what} at \`${path}\``,
    detail: { path, expected },
  });
}
