/* The bundle that writ writes: its strict form, and its log entry. */
import { X509Certificate } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import { type Envelope, parseEnvelope } from '../encoding/dsse.ts';
import {
  expectAnyBase64,
  expectArray,
  expectBase64,
  expectInt64,
  expectObject,
  expectText,
  type JsonObject,
  malformedAt,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import { entryKind, promisedEntryKind } from '../log/log-entry.ts';
import { type AnyBundle, readBundle } from './any-bundle.ts';

/** Media type of sigstore bundle v0.3. */
const bundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** A sigstore bundle around one DSSE envelope. All of it is unverified. */
export interface Bundle {
  readonly envelope: Envelope;
  /** Absent: the envelope was not logged. */
  readonly proof: BundledProof | undefined;
  /** The signer's, DER; absent where a managed key signed. */
  readonly certificate?: Buffer;
}

/** A bundle in the form that `formatBundle` writes, and the same bundle as the general reader parsed it. */
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

/** The bundle of {@link readSeal}. */
export function parseBundle(bytes: Uint8Array): Bundle {
  return readSeal(bytes).bundle;
}

/**
 * Reads the form that `formatBundle` writes: strict JSON up to 4 MiB and 32 levels, with no additional member. It has
 * one signature, with a key id equal to the hint or to the certificate's key, and at most one log entry.
 *
 * Throws ATTESTATION_MALFORMED. This function checks only the form; the general bundle reader returns the content.
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

/**
 * Requires the form that writ itself writes: no additional member, no unset member, canonical spelling, and one kind
 * of log entry.
 */
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

/** Requires that the certificate's key is the one that the envelope names. */
function requireKey(der: Buffer, at: string, keyId: string): void {
  try {
    const certificate = new X509Certificate(der);
    // What follows the certificate would make two bundles out of one.
    if (certificate.raw.equals(der) && keyIdOf(certificate.publicKey) === keyId) return;
  } catch {
    // The refusal below names the fault.
  }
  throw malformed(`the certificate of key \`${keyId}\``, at, keyId);
}

function malformed(what: string, path: string, expected = what): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${what} at \`${path}\``,
    detail: { path, expected },
  });
}

/** A log proof as a bundle carries it: with the log's whole key id. One with a promise is of Rekor v1. */
export interface BundledProof extends Omit<LogProof, 'origin'> {
  /** SHA-256 key id of the log (C2SP), 32 octets. */
  readonly logId: Uint8Array;
}

/**
 * A log entry of the one kind that we write; anything else in it is ATTESTATION_MALFORMED. Rekor v2 may leave the time
 * out, which it has none of. The form is a check of the entry; its values are those of the one decoding.
 */
export function parseTlogEntry(value: unknown, at: string): BundledProof {
  const entry = requireEntryForm(value, at);
  const { logIndex, integratedTime, logId, promise, proof, body } = decodeTlogEntry(entry, at);
  const path = required(proof, `${at}/inclusionProof`);
  return {
    logIndex: Number(path.logIndex),
    rootHash: path.rootHash,
    treeSize: Number(path.treeSize),
    hashes: path.hashes,
    checkpoint: required(path.checkpoint, `${at}/inclusionProof/checkpoint`),
    ...(promise && {
      promise: { integratedTime: Number(integratedTime), logIndex: Number(logIndex), signature: promise },
    }),
    logId: required(logId, `${at}/logId`),
    body,
  };
}

const members = ['logIndex', 'logId', 'kindVersion', 'integratedTime', 'inclusionProof', 'canonicalizedBody'];

/** Its kinds, no other member, and one spelling of everything. */
function requireEntryForm(value: unknown, at: string): JsonObject {
  const entry = expectObject(value, at, [...members, 'inclusionPromise']);
  const kind = expectObject(entry.kindVersion, `${at}/kindVersion`, ['kind', 'version']);
  expectText(kind.kind, `${at}/kindVersion/kind`, /^hashedrekord$/);
  const version = expectText(kind.version, `${at}/kindVersion/version`, /^0\.0\.[12]$/);
  const isPromised = version === promisedEntryKind.version;
  if (isPromised) {
    const promiseAt = `${at}/inclusionPromise`;
    const { signedEntryTimestamp } = expectObject(entry.inclusionPromise, promiseAt, [
      'signedEntryTimestamp',
    ]);
    expectInt64(entry.integratedTime, `${at}/integratedTime`);
    expectInt64(entry.logIndex, `${at}/logIndex`);
    expectBase64(signedEntryTimestamp, `${promiseAt}/signedEntryTimestamp`);
  } else {
    // A Rekor v2 entry has no inclusion promise.
    expectObject(entry, at, members);
    expectText(entry.integratedTime ?? '0', `${at}/integratedTime`, /^0$/);
  }
  const { keyId } = expectObject(entry.logId, `${at}/logId`, ['keyId']);
  const index = requireProofForm(entry.inclusionProof, `${at}/inclusionProof`);
  if (!isPromised) expectText(entry.logIndex, `${at}/logIndex`, new RegExp(`^${index}$`));
  expectBase64(keyId, `${at}/logId/keyId`);
  expectBase64(entry.canonicalizedBody, `${at}/canonicalizedBody`);
  return entry;
}

/** Answers the index in its tree. */
function requireProofForm(value: unknown, at: string): number {
  const proof = expectObject(value, at, ['logIndex', 'rootHash', 'treeSize', 'hashes', 'checkpoint']);
  const { envelope } = expectObject(proof.checkpoint, `${at}/checkpoint`, ['envelope']);
  const index = expectInt64(proof.logIndex, `${at}/logIndex`);
  expectBase64(proof.rootHash, `${at}/rootHash`);
  expectInt64(proof.treeSize, `${at}/treeSize`);
  for (const [n, hash] of expectArray(proof.hashes, `${at}/hashes`, 63).entries())
    expectBase64(hash, `${at}/hashes/${n}`);
  expectText(envelope, `${at}/checkpoint/envelope`);
  return index;
}

/** A member that the form has, as its decoding gives it. */
function required<T>(member: T | undefined, path: string): T {
  if (member !== undefined) return member;
  throw malformedAt(path, 'an object');
}

/** A decoded, unverified log entry of a bundle. An unset member has its protobuf JSON default. */
export interface TlogEntry {
  /** Decimal; a 64-bit number may be more than a number of ours holds. */
  readonly logIndex: string;
  readonly logId: Buffer | undefined;
  readonly kind: { readonly kind: string; readonly version: string } | undefined;
  /** Seconds since the epoch, decimal. */
  readonly integratedTime: string;
  /** The signed entry timestamp. */
  readonly promise: Buffer | undefined;
  readonly proof: InclusionMembers | undefined;
  readonly body: Buffer;
}

/** What an inclusion proof holds. */
interface InclusionMembers {
  readonly logIndex: string;
  readonly rootHash: Buffer;
  readonly treeSize: string;
  readonly hashes: readonly Buffer[];
  readonly checkpoint: string | undefined;
}

/** The one decoding of a log entry; members that are not known are left aside. ATTESTATION_MALFORMED. */
export function decodeTlogEntry(entry: JsonObject, path: string): TlogEntry {
  const member = (name: string): JsonObject | undefined =>
    entry[name] === undefined ? undefined : expectObject(entry[name], `${path}/${name}`);
  const logId = member('logId');
  const kind = member('kindVersion');
  const promise = member('inclusionPromise');
  const proof = member('inclusionProof');
  const promiseAt = `${path}/inclusionPromise/signedEntryTimestamp`;
  return {
    logIndex: int64(entry.logIndex, `${path}/logIndex`),
    logId: logId && octets(logId.keyId, `${path}/logId/keyId`),
    kind: kind && {
      kind: text(kind.kind, `${path}/kindVersion/kind`),
      version: text(kind.version, `${path}/kindVersion/version`),
    },
    integratedTime: int64(entry.integratedTime, `${path}/integratedTime`),
    promise: promise && octets(promise.signedEntryTimestamp, promiseAt),
    proof: proof && decodeProof(proof, `${path}/inclusionProof`),
    body: octets(entry.canonicalizedBody, `${path}/canonicalizedBody`),
  };
}

function decodeProof(proof: JsonObject, path: string): InclusionMembers {
  const { checkpoint, hashes = [] } = proof;
  const checkpointAt = `${path}/checkpoint`;
  return {
    logIndex: int64(proof.logIndex, `${path}/logIndex`),
    rootHash: octets(proof.rootHash, `${path}/rootHash`),
    treeSize: int64(proof.treeSize, `${path}/treeSize`),
    // More than any log needs; verification decides how many are right.
    hashes: expectArray(hashes, `${path}/hashes`, 1024).map((hash, n) => octets(hash, `${path}/hashes/${n}`)),
    checkpoint:
      checkpoint === undefined
        ? undefined
        : text(expectObject(checkpoint, checkpointAt).envelope, `${checkpointAt}/envelope`),
  };
}

function text(value: unknown, path: string): string {
  return value === undefined ? '' : expectText(value, path);
}

function int64(value: unknown, path: string): string {
  return value === undefined ? '0' : expectText(value, path, /^-?[0-9]{1,20}$/);
}

/** Octets, of which there may be none. */
function octets(value: unknown, path: string): Buffer {
  return value === undefined || value === '' ? Buffer.alloc(0) : expectAnyBase64(value, path);
}
