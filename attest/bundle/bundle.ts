/* The bundle that writ writes: its strict form, its log entry, and how a statement is sealed in it. */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type {
  Attestation,
  LogProof,
  SealedFile,
  SealingParties,
  Signer,
  TransparencyLog,
} from '../../core/interfaces/sealing.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import {
  type Envelope,
  inTotoPayloadType,
  parseEnvelope,
  preAuthEncoding,
  signEnvelope,
  toDsseEnvelope,
} from '../encoding/dsse.ts';
import {
  expectAnyBase64,
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  malformedAt,
  parseBase64,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { keyIdOf } from '../encoding/public-key.ts';
import { formatTlogProof, parseCheckpoint } from '../log/checkpoint.ts';
import { buildLogEntry, entryKind, promisedEntryKind } from '../log/log-entry.ts';
import { leafHash, rootFromInclusion } from '../log/merkle.ts';
import { parseVkey } from '../log/note.ts';
import { isPartOf, type LogVersion } from '../log/tiles.ts';
import type { Statement } from '../statement/statement.ts';
import { type AnyBundle, readBundle } from './any-bundle.ts';

/** Media type of sigstore bundle v0.3. */
export const bundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** A sigstore bundle around one DSSE envelope. All of it is unverified. */
export interface Bundle {
  readonly envelope: Envelope;
  /** Absent: the envelope was not logged. */
  readonly proof: BundledProof | undefined;
  /** The signer's, DER; absent where a managed key signed. */
  readonly certificate?: Buffer;
  /** RFC 3161 response over the signature, DER; beside a certificate whose log does not sign the time (Rekor v2). */
  readonly timestamp?: Buffer;
}

/** A bundle in the form that `formatBundle` writes, and the same bundle as the general reader parsed it. */
export interface Seal {
  readonly bundle: Bundle;
  readonly read: AnyBundle;
}

const maxBytes = 4 * 1024 * 1024;

/** Writes a bundle: key hint or certificate, envelope, at most one log entry and time stamp. Same input, same bytes. */
export function formatBundle({ envelope, proof, certificate, timestamp }: Bundle): string {
  return JSON.stringify({
    mediaType: bundleMediaType,
    verificationMaterial: {
      ...(certificate === undefined
        ? { publicKey: { hint: envelope.keyId } }
        : { certificate: { rawBytes: certificate.toString('base64') } }),
      tlogEntries: proof === undefined ? [] : [toTlogEntry(proof)],
      ...(timestamp && {
        timestampVerificationData: {
          rfc3161Timestamps: [{ signedTimestamp: timestamp.toString('base64') }],
        },
      }),
    },
    dsseEnvelope: toDsseEnvelope(envelope),
  });
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
 * Reads the form that `formatBundle` writes: strict JSON up to 4 MiB and 32 levels, with one signature by the key of
 * the hint or of the certificate, and at most one log entry; beside a certificate and an entry without a time also one
 * time stamp. The general reader returns the content; the bundle that this content is written as must be the same
 * document: a seal has one spelling but for the alphabet of base64.
 *
 * Throws ATTESTATION_MALFORMED.
 */
export function readSeal(bytes: Uint8Array): Seal {
  const document = parseJsonObject(bytes, maxBytes);
  expectText(document.mediaType, '/mediaType', /^application\/vnd\.dev\.sigstore\.bundle\.v0\.3\+json$/);
  const read = readBundle(document);
  const { content, material, entries } = read;
  if (content.kind !== 'envelope') throw malformedAt('/dsseEnvelope', 'an envelope');
  const { payloadType, payload, signatures } = content;
  const [{ hint: keyId, signature }] = signatures;
  expectText(keyId, '/dsseEnvelope/signatures/0/keyid', /^[0-9a-f]{64}$/);
  if (material.kind === 'certificate') requireKey(material.der, keyId);
  const entriesAt = '/verificationMaterial/tlogEntries';
  const [entry] = expectArray(entries, entriesAt, 1);
  const proof = entry === undefined ? undefined : parseTlogEntry(entry, `${entriesAt}/0`);
  // Elsewhere no step would verify a time stamp.
  const needsTime = material.kind === 'certificate' && proof !== undefined && proof.promise === undefined;
  const stampsAt = '/verificationMaterial/timestampVerificationData/rfc3161Timestamps';
  const [stamp] = expectArray(read.timestamps, stampsAt, needsTime ? 1 : 0);
  const bundle: Bundle = {
    envelope: { payloadType, payload, keyId, signature },
    proof,
    ...(material.kind === 'certificate' ? { certificate: material.der } : {}),
    ...(stamp !== undefined && {
      timestamp: expectAnyBase64(expectObject(stamp, `${stampsAt}/0`).signedTimestamp, `${stampsAt}/0`),
    }),
  };
  requireSpelling(document, JSON.parse(formatBundle(bundle)), '');
  return { bundle, read };
}

/** Requires that a document is what writ writes, member by member; nothing that writ writes is empty text. */
function requireSpelling(found: unknown, written: unknown, path: string): void {
  if (Array.isArray(written)) {
    const items = expectArray(found, path, written.length);
    for (const [n, item] of written.entries()) requireSpelling(items[n], item, `${path}/${n}`);
  } else if (typeof written === 'object' && written !== null) {
    const members = expectObject(found, path, Object.keys(written));
    for (const [name, member] of Object.entries(written))
      requireSpelling(members[name], member, `${path}/${name}`);
  } else if (found === '' || (found !== written && !isOtherAlphabet(found, written)))
    throw malformedAt(path, `\`${String(written).slice(0, 64)}\` as writ writes it`);
}

/** True for the same octets in base64 of the other alphabet: verifiers accept both (DSSE 1.0). */
function isOtherAlphabet(found: unknown, written: unknown): boolean {
  const [one, other] = [found, written].map((text) => parseBase64(String(text)));
  return one !== undefined && other !== undefined && one.equals(other);
}

/** Requires that the certificate's key is the one that the envelope names. */
function requireKey(der: Buffer, keyId: string): void {
  try {
    const certificate = new X509Certificate(der);
    // What follows the certificate would make two bundles out of one.
    if (certificate.raw.equals(der) && keyIdOf(certificate.publicKey) === keyId) return;
  } catch {
    // The refusal below names the fault.
  }
  throw malformedAt('/verificationMaterial/certificate', `the certificate of key \`${keyId}\``);
}

/** A log proof as a bundle carries it: with the log's whole key id. One with a promise is of Rekor v1. */
export interface BundledProof extends Omit<LogProof, 'origin'> {
  /** SHA-256 key id of the log (C2SP), 32 octets. */
  readonly logId: Uint8Array;
}

/**
 * Reads a log entry in the only form that writ writes; anything else in it is ATTESTATION_MALFORMED. An entry of Rekor
 * v2 has no time, and may leave the member out.
 */
export function parseTlogEntry(value: unknown, at: string): BundledProof {
  const entry = { integratedTime: '0', ...expectObject(value, at) };
  const { logIndex, integratedTime, logId, promise, proof: path, body } = decodeTlogEntry(entry, at);
  if (logId === undefined || path?.checkpoint === undefined)
    throw malformedAt(at, 'a log id, and an inclusion proof with a checkpoint');
  expectArray(path.hashes, `${at}/inclusionProof/hashes`, 63);
  // No index, size or time of ours is below 0.
  for (const number of [logIndex, integratedTime, path.logIndex, path.treeSize])
    expectText(number, at, /^\d/);
  const proof: BundledProof = {
    logIndex: Number(path.logIndex),
    rootHash: path.rootHash,
    treeSize: Number(path.treeSize),
    hashes: path.hashes,
    checkpoint: path.checkpoint,
    ...(promise && {
      promise: { integratedTime: Number(integratedTime), logIndex: Number(logIndex), signature: promise },
    }),
    logId,
    body,
  };
  requireSpelling(entry, toTlogEntry(proof), at);
  return proof;
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

/** Signs a statement: the DSSE envelope as JSON. SIGNER_FAILED. */
export async function signStatement(statement: Statement, { signer }: SealingParties): Promise<Uint8Array> {
  const payload = Buffer.from(canonicalize(statement));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  return Buffer.from(JSON.stringify(toDsseEnvelope(envelope)));
}

/** A bundle around an envelope that is not logged, with the signer's certificate where it has one. */
export function toUnloggedBundle(bytes: Uint8Array, { signer }: SealingParties): Uint8Array {
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const envelope = parseEnvelope(value, '');
  return Buffer.from(formatBundle({ envelope, proof: undefined, ...certificateOf(signer) }));
}

function certificateOf({ certificate }: Signer): { readonly certificate?: Buffer } {
  return certificate === undefined ? {} : { certificate: Buffer.from(certificate()) };
}

/**
 * Logs a signed envelope where there is a log, and puts both into a bundle, with a time stamp if the signer needs one.
 * SIGNER_FAILED, LOG_FAILED.
 */
export async function logEnvelope(
  bytes: Uint8Array,
  parties: SealingParties,
  behind: number,
): Promise<Attestation> {
  const { signer, log } = parties;
  if (log === undefined) return { bundle: toUnloggedBundle(bytes, parties), keyId: signer.keyId };
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const envelope = parseEnvelope(value, '');
  // Before the log: if the time stamp cannot be had, nothing was claimed in public.
  const signed = preAuthEncoding(envelope.payloadType, envelope.payload);
  const timestamp = await signer.timestamp?.(signed, envelope.signature);
  const body = buildLogEntry(envelope, createPublicKey(signer.publicKeyPem));
  const proof = await appendTo(log, body, behind);
  const logId = proof.logId ?? parseVkey((await log.vkey()) ?? '').keyId;
  const bundle: Bundle = {
    envelope,
    proof: { ...proof, logId },
    ...certificateOf(signer),
    ...(timestamp && { timestamp: Buffer.from(timestamp) }),
  };
  return {
    bundle: Buffer.from(formatBundle(bundle)),
    proof: Buffer.from(formatTlogProof(proof)),
    keyId: signer.keyId,
    logOrigin: proof.origin,
    logIndex: proof.logIndex,
  };
}

async function appendTo(
  log: NonNullable<SealingParties['log']>,
  body: Buffer,
  behind: number,
): Promise<LogProof> {
  try {
    return await log.append(body, { behind });
  } catch (cause) {
    if (cause instanceof WritError) throw cause;
    throw new WritError('LOG_FAILED', { detail: { mode: log.mode }, cause });
  }
}

/** The seals of a run that its log entry is in: those that were made again, else the first. */
type Seals = ReadonlyMap<string, Uint8Array>;

/**
 * Recreates the log entry of a sealed run, with identical bytes, if `own` is the log that recorded it. This needs no
 * signing key, because the signed content does not change. The new bundle and proof are stored beside the first ones.
 *
 * Returns `undefined` for a run without an entry in `own`. Throws ATTESTATION_MALFORMED or LOG_FAILED.
 */
export async function renewEntry(
  seals: Seals,
  own: LogVersion,
  log: Pick<TransparencyLog, 'append'>,
): Promise<readonly SealedFile[] | undefined> {
  const bytes = seals.get(sealPaths.renewedBundle) ?? seals.get(sealPaths.bundle);
  if (bytes === undefined) return undefined;
  const bundle = parseBundle(bytes);
  const { proof } = bundle;
  if (proof === undefined || !(await isIn(proof, own))) return undefined;
  const renewed = await log.append(proof.body, { behind: 0 });
  return [
    [
      sealPaths.renewedBundle,
      Buffer.from(formatBundle({ ...bundle, proof: { ...renewed, logId: proof.logId } })),
    ],
    [sealPaths.renewedProof, Buffer.from(formatTlogProof(renewed))],
  ];
}

async function isIn(
  { body, logIndex, hashes, checkpoint }: NonNullable<Bundle['proof']>,
  own: LogVersion,
): Promise<boolean> {
  const proven = parseCheckpoint(checkpoint);
  const root = rootFromInclusion(logIndex, proven.size, leafHash(body), hashes);
  return root?.equals(proven.root) === true && proven.origin === own.head.origin && isPartOf(proven, own);
}
