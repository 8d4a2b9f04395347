/* Verifies a bundle with the sigstore library. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { assertBundle, Bundle as SigstoreBundle } from '@sigstore/bundle';
import type { SignedEntity, TrustMaterial, Verifier } from '@sigstore/verify';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { type AnyBundle, type Content, hashAlgorithms, type Material } from '../bundle/any-bundle.ts';
import { decodeTlogEntry, type TlogEntry } from '../bundle/bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import { expectAnyBase64, expectObject } from '../encoding/expect-json.ts';
import { canVerifyBy } from '../encoding/public-key.ts';
import { type Checkpoint, parseCheckpoint } from '../log/checkpoint.ts';
import type { Root, TrustedRoot } from '../public/trusted-root.ts';
import { type CheckDetail, refuted, unavailable } from './report.ts';
import { type SignatureVerdict, type Signed, signatureVerdict } from './signature-verdict.ts';

interface SigstoreTrust {
  readonly root: TrustedRoot;
  /** The managed key that verifies; absent: the bundle's certificate. */
  readonly key?: KeyObject;
  /**
   * Verifies a certificate at this time, which the caller vouches for, instead of at logged ones. Milliseconds since
   * the epoch.
   */
  readonly atMs?: number;
  /** The current time, for entries of a signature by a key without a time. Milliseconds since the epoch. */
  readonly nowMs?: number;
  /** What a message signature was made over. */
  readonly signed?: Signed;
}

export interface SigstoreProof {
  /** The root that it was verified under: one member of several, by a key all of them together. */
  readonly root: Root;
  /** Of the log entries those of logs that the root names; each was verified. */
  readonly entries: number;
  /** Times from time-stamp authorities of the root, ISO 8601. */
  readonly times: readonly string[];
}

type Entries = SignedEntity['tlogEntries'];

/**
 * Verifies a bundle with the sigstore library: certificate chain at the signed time, certificate log, transparency
 * log, time stamps. The signature itself is verified here, in every form in use.
 *
 * Each kind of service that the trusted root names must appear once. A certificate always needs a time. Entries and
 * time stamps of other services do not count. Subjects and identity are not compared.
 *
 * Throws refusals for a check list, with `detail.at` `log` if the log is at fault.
 */
export async function verifyWithSigstore(bundle: AnyBundle, trust: SigstoreTrust): Promise<SigstoreProof> {
  const faults: unknown[] = [];
  for (const root of trust.key ? [trust.root.root] : rootsFor(bundle.material, trust.root)) {
    try {
      return await verifyUnder(root, bundle, trust);
    } catch (fault) {
      faults.push(fault);
    }
  }
  throw faults.find((fault) => isWritError(fault, 'VERIFY_REFUTED')) ?? faults[0];
}

/** The roots that name the authority of a certificate, else all of them. */
function rootsFor(material: Material, { members }: TrustedRoot): readonly Root[] {
  if (members.length === 1 || material.kind !== 'certificate') return members;
  const leaf = readCertificate(material.der);
  const naming = members.filter(({ certificateAuthorities }) =>
    certificateAuthorities
      .flatMap(({ certChain }) => certChain?.certificates ?? [])
      .some(({ rawBytes }) => leaf?.checkIssued(new X509Certificate(rawBytes))),
  );
  return naming.length === 0 ? members : naming;
}

/** `undefined` for an invalid certificate, which the library refuses. */
function readCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

async function verifyUnder(
  root: Root,
  bundle: AnyBundle,
  { key, atMs, nowMs = systemClock.now(), signed }: SigstoreTrust,
): Promise<SigstoreProof> {
  const [forms, { toSignedEntity, toTrustMaterial, Verifier }] = await Promise.all([
    import('@sigstore/bundle'),
    import('@sigstore/verify'),
  ]);
  const { tlogs, ctlogs } = root;
  const verdict: { found?: SignatureVerdict | undefined } = {};
  let entries: Entries = [];
  try {
    const finder = () => ({ publicKey: key as KeyObject, validFor: () => true });
    const material = toTrustMaterial(root, finder);
    const entity = toSignedEntity(toSigstoreBundle(bundle, forms));
    entries = entriesOfKnownLogs(entity.tlogEntries, root);
    const signature = withOwnVerdict(entity.signature, bundle, signed, verdict);
    const timeless = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };
    const stamps = knownTimestamps(
      { ...entity, signature },
      root,
      material,
      (all) => new Verifier(all, timeless),
    );
    const verifier = new Verifier(material, {
      tlogThreshold: tlogs.length > 0 && atMs === undefined ? 1 : 0,
      ctlogThreshold: ctlogs.length > 0 ? 1 : 0,
      timestampThreshold: key ? 0 : 1,
    });
    verifier.verify({
      ...entity,
      signature,
      tlogEntries: entries,
      timestamps: atMs === undefined ? [...stamps, ...timesOf(entries)] : [statedTime(atMs)],
    });
    const stamped = stamps.map(({ timestamp }) => timestamp.signingTime);
    const times = atMs === undefined ? [...stamped, ...promisedTimes(entries)] : [new Date(atMs)];
    for (const entry of entries) {
      requireSameHead(entry);
      requireTrustedLog(entry, { times, nowMs }, root);
    }
    return {
      root,
      entries: entries.length,
      times: stamped.map((time) => time.toISOString()),
    };
  } catch (fault) {
    if (isWritError(fault)) throw fault;
    if (verdict.found === 'cannot')
      throw unavailable('missing', {
        expected: 'the artifact as a file: nothing can be said of this signature by these digests',
      });
    throw toRefusal(fault, entries, root);
  }
}

/** Entries of unknown logs prove nothing, but do not invalidate a valid entry beside them. */
function entriesOfKnownLogs(entries: Entries, { tlogs }: Root): Entries {
  const ids = tlogs.flatMap(({ checkpointKeyId, logId }) => (checkpointKeyId ?? logId)?.keyId ?? []);
  const known = entries.filter((entry) => ids.some((id) => id.equals(entry.logId.keyId)));
  if (known.length > 0 || entries.length === 0 || tlogs.length === 0) return known;
  throw unavailable('untrusted-log', {
    at: 'log',
    expected: tlogs.map(({ baseUrl }) => baseUrl),
    found: entries.map(({ logId }) => `log id ${logId.keyId.toString('hex').slice(0, 64)}`),
  });
}

/** Times that logs signed in the promises of entries; the library verified the promises. */
function promisedTimes(entries: Entries): readonly Date[] {
  return entries
    .filter(({ inclusionPromise }) => inclusionPromise !== undefined)
    .map(({ integratedTime }) => new Date(Number(integratedTime) * 1000));
}

/**
 * Requires that the root trusts the log of an entry at a verified time. The library compares the time of a promise
 * only, and an entry of Rekor v2 has none. A signature by a key may have no time: then the period of the log must have
 * begun, and what a retired log signed stays signed.
 */
function requireTrustedLog(
  entry: Entries[number],
  { times, nowMs }: { readonly times: readonly Date[]; readonly nowMs: number },
  root: Root,
): void {
  if (entry.inclusionPromise !== undefined) return;
  const hasBegun = logsOf(entry, root).some(({ publicKey }) => Number(publicKey?.validFor?.start) <= nowMs);
  if (times.length === 0 ? hasBegun : times.some((time) => isTrustedAt(entry, root, time))) return;
  throw unavailable('untrusted-log', {
    at: 'log',
    expected: trustedTime,
    ...(times.length === 0 ? {} : { found: times.map((time) => time.toISOString()) }),
  });
}

/**
 * Requires that an inclusion proof states the tree of its checkpoint, which the library verified, and that an entry of
 * Rekor v2 states the index of its proof. The library computes with checkpoint and proof alone and does not read
 * `rootHash`, `treeSize` and the index of the entry.
 */
function requireSameHead({ inclusionProof: proof, logIndex, ...entry }: Entries[number]): void {
  if (proof === undefined) return;
  const hasOneIndex = entry.inclusionPromise === undefined && !Number(entry.integratedTime);
  if (hasOneIndex && logIndex !== proof.logIndex)
    throw refuted('mismatch', { at: 'log', expected: `index ${proof.logIndex}`, found: `index ${logIndex}` });
  const { size, root } = readHead(proof.checkpoint?.envelope ?? '');
  if (proof.treeSize === String(size) && root.equals(proof.rootHash)) return;
  throw refuted('mismatch', {
    at: 'log',
    expected: [`tree size ${size}`, `root ${root.toString('base64')}`],
    found: [`tree size ${proof.treeSize}`, `root ${proof.rootHash.toString('base64').slice(0, 64)}`],
  });
}

function readHead(checkpoint: string): Checkpoint {
  try {
    // The library compared the name of the signature; Rekor v1 puts the number of the tree behind it in the origin.
    return parseCheckpoint(checkpoint, () => true);
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    throw refuted('malformed', { at: 'log', found: fault.message });
  }
}

/** Times that logs promised, each of a log once: the library refuses a repeated one as a copy. */
function timesOf(entries: Entries): SignedEntity['timestamps'] {
  const times = new Map<string, Entries[number]>();
  for (const entry of entries)
    if (entry.integratedTime && entry.integratedTime !== '0')
      times.set(`${entry.logId.keyId.toString('hex')} ${entry.integratedTime}`, entry);
  return [...times.values()].map((tlogEntry) => ({ $case: 'transparency-log', tlogEntry }));
}

/**
 * The library's content of a bundle with our verdict on its signature, in every form, and by digests without the bytes.
 */
function withOwnVerdict(
  content: SignedEntity['signature'],
  { content: { kind, ...rest } }: AnyBundle,
  message: Signed | undefined,
  verdict: { found?: SignatureVerdict | undefined },
): SignedEntity['signature'] {
  const { payloadType, payload } = { payloadType: '', payload: Buffer.alloc(0), ...rest };
  const signed = kind === 'envelope' ? preAuthEncoding(payloadType, payload) : message;
  return {
    signature: content.signature,
    compareSignature: (other) => content.compareSignature(other),
    compareDigest: (digest) => content.compareDigest(digest),
    compareSignedDigest: (digest) => content.compareSignedDigest(digest),
    verifySignature(key) {
      if (!canVerifyBy(key)) throw unavailable('unsupported', { found: `a ${key.asymmetricKeyType} key` });
      verdict.found = signed && signatureVerdict(key, signed, content.signature);
      return verdict.found === 'holds';
    },
  };
}

/** A time in the only form that the library accepts: that of a log which promised an entry. */
function statedTime(atMs: number): SignedEntity['timestamps'][number] {
  const octets = Buffer.alloc(0);
  return {
    $case: 'transparency-log',
    tlogEntry: {
      logIndex: '0',
      logId: { keyId: octets },
      kindVersion: { kind: '', version: '' },
      integratedTime: String(Math.floor(atMs / 1000)),
      inclusionPromise: { signedEntryTimestamp: octets },
      inclusionProof: undefined,
      canonicalizedBody: octets,
    },
  };
}

type Timestamps = SignedEntity['timestamps'];
type Rfc3161 = Extract<Timestamps[number], { $case: 'timestamp-authority' }>;

/**
 * Returns the RFC 3161 time stamps over this signature by authorities of the root, each distinct time of an authority
 * once. A time stamp by an unknown authority is ignored. One that names a known authority but does not verify is a
 * refusal.
 */
function knownTimestamps(
  { timestamps, signature }: SignedEntity,
  root: Root,
  material: TrustMaterial,
  makeVerifier: (material: TrustMaterial) => Verifier,
): readonly Rfc3161[] {
  const known = new Map<string, Rfc3161>();
  for (const one of timestamps) {
    if (one.$case !== 'timestamp-authority') continue;
    const { timestamp } = one;
    const authority = material.timestampAuthorities.findIndex(
      ({ certChain: [leaf] }) =>
        leaf?.serialNumber.equals(timestamp.signerSerialNumber) && leaf.issuer.equals(timestamp.signerIssuer),
    );
    const { validFor } = root.timestampAuthorities[authority] ?? {};
    if (validFor === undefined) continue;
    // The library knows the hash from the name of an ECDSA signature only; CMS names it beside an RSA key as well.
    if (timestamp.signatureAlgorithm === undefined)
      Object.defineProperty(timestamp, 'signatureAlgorithm', { value: timestamp.signerDigestAlgorithm });
    const time = readTime(timestamp);
    Object.defineProperty(timestamp, 'signingTime', { value: time });
    const found = time.toISOString();
    try {
      // The library verifies a time stamp only within a bundle, so this one has a signature that always holds.
      makeVerifier(material).verify({
        timestamps: [one],
        tlogEntries: [],
        key: { $case: 'public-key', hint: '' },
        signature: { ...signature, signature: signature.signature, verifySignature: () => true },
      });
    } catch {
      const { start, end = time } = validFor;
      const isOutside = start === undefined || time < start || time > end;
      throw refuted(isOutside ? 'stale' : 'bad-signature', { found: `a time stamp that says ${found}` });
    }
    known.set(`${authority} ${found}`, one);
  }
  return [...known.values()];
}

/** The time to the second. The library accepts fractions of three digits only; RFC 3161 (2.4.2) allows any number. */
function readTime({ tstInfo }: Rfc3161['timestamp']): Date {
  const text = tstInfo.root.subs[4]?.value.toString('latin1') ?? '';
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d{1,9})?Z$/.exec(text) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time.getTime())) throw refuted('malformed', { found: 'a time stamp without a time' });
  return time;
}

/** What the library calls a bundle before it looked at its form. */
type Unchecked = Parameters<typeof assertBundle>[0];
type UncheckedMaterial = NonNullable<Unchecked['verificationMaterial']>;
type Entry = UncheckedMaterial['tlogEntries'][number];

const at = '/verificationMaterial';

/**
 * Builds the library's bundle from our one reading, so that the library parses no JSON of it. Log entries and time
 * stamps are decoded here, entries by the one decoding of them. `forms` is the library, which refuses what a version of
 * the format does not allow. ATTESTATION_MALFORMED.
 */
export function toSigstoreBundle(
  bundle: AnyBundle,
  forms: typeof import('@sigstore/bundle'),
): SigstoreBundle {
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

type LoggedEntries = SignedEntity['tlogEntries'];

/**
 * Converts an error of the sigstore library to a refusal for a check list: refuted where it shows that something is
 * false, else inconclusive. Any other error at hostile input is malformed. `entries` are those of logs that the root
 * names.
 */
function toRefusal(fault: unknown, entries: LoggedEntries, root: Root): Error {
  const { code, message, cause } = Object(fault) as { code?: unknown; message?: unknown; cause?: unknown };
  const reason = String(message).slice(0, 300);
  const inner = String(Object(cause).message ?? '').slice(0, 300);
  const found = inner === '' ? reason : `${reason}: ${inner}`;
  const atLog: CheckDetail = { at: 'log', found };
  switch (code) {
    case 'TLOG_ERROR':
      return entries.length === 0 ? unavailable('not-logged', { at: 'log' }) : refuted('mismatch', atLog);
    case 'TLOG_MISSING_INCLUSION_ERROR':
      return unavailable('not-logged', atLog);
    case 'TLOG_BODY_ERROR':
      // An entry kind that the library does not support is no evidence of forgery.
      return /^unsupported|^signature count mismatch$/.test(reason)
        ? unavailable('unsupported', atLog)
        : refuted('mismatch', atLog);
    case 'TLOG_INCLUSION_PROOF_ERROR':
      if (reason !== 'invalid checkpoint signature') return refuted('mismatch', atLog);
      return entries.some((entry) => isSignedInName(entry, root))
        ? refuted('bad-signature', atLog)
        : unavailable('untrusted-log', atLog);
    case 'TLOG_INCLUSION_PROMISE_ERROR':
      return entries.every((entry) => isTrustedAt(entry, root, new Date(Number(entry.integratedTime) * 1000)))
        ? refuted('bad-signature', atLog)
        : unavailable('untrusted-log', { ...atLog, expected: trustedTime });
    case 'CERTIFICATE_ERROR':
      return found.includes('not valid or expired')
        ? refuted('stale', { found })
        : unavailable('untrusted-signer', { found });
    case 'PUBLIC_KEY_ERROR':
      return unavailable('untrusted-signer', { found });
    case 'TIMESTAMP_ERROR':
      return found.includes('expected 1 timestamps')
        ? unavailable('missing', {
            expected: 'a time signed by a log (Rekor v1) or a time-stamp authority',
            found: 'none by one that the trusted root names',
          })
        : refuted('stale', { found });
    case 'SIGNATURE_ERROR':
      return refuted('bad-signature', { found });
    default:
      // A runtime error on hostile input describes the library, not the bundle.
      return refuted('malformed', { found: isOfRuntime(fault) ? 'what the library cannot read' : found });
  }
}

function isOfRuntime(fault: unknown): boolean {
  return [TypeError, RangeError, SyntaxError, ReferenceError].some((kind) => fault instanceof kind);
}

function logsOf(entry: LoggedEntries[number], root: Root): Root['tlogs'] {
  return root.tlogs.filter(({ checkpointKeyId, logId }) =>
    (checkpointKeyId ?? logId)?.keyId.equals(entry.logId.keyId),
  );
}

/**
 * True where the checkpoint bears a signature line under the name and the key of its log, which then is what does not
 * hold.
 */
function isSignedInName(entry: LoggedEntries[number], root: Root): boolean {
  const text = entry.inclusionProof?.checkpoint?.envelope ?? '';
  const hint = entry.logId.keyId.subarray(0, 4);
  return [...text.matchAll(/^\u2014 (\S{1,1024}) (\S{1,4096})$/gm)].some(
    ([, name = '', blob = '']) =>
      Buffer.from(blob, 'base64').subarray(0, 4).equals(hint) &&
      logsOf(entry, root).some(({ baseUrl }) => baseUrl.includes(name)),
  );
}

/** What is expected if the root trusts a log at other times only. */
const trustedTime = 'a time at which the key of the log is valid';

/** True if the root trusts a log with the id of the entry's log at `time`. */
function isTrustedAt(entry: LoggedEntries[number], root: Root, time: Date): boolean {
  return logsOf(entry, root).some(({ publicKey }) => {
    const { start, end } = publicKey?.validFor ?? {};
    return start !== undefined && start <= time && (end === undefined || time <= end);
  });
}
