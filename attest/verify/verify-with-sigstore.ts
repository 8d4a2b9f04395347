import { type KeyObject, X509Certificate } from 'node:crypto';
import type { SignedEntity, TrustMaterial, Verifier } from '@sigstore/verify';
import { isWritError } from '../../core/base/errors.ts';
import type { AnyBundle, Material } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import { canJudgeBy } from '../encoding/public-key.ts';
import { type Checkpoint, parseCheckpoint } from '../log/checkpoint.ts';
import type { Root, TrustedRoot } from '../public/trusted-root.ts';
import { type CertifiedSource, onlyIssuer, toCertifiedSource } from './certificate-claims.ts';
import { judgeSignature, type SignatureVerdict, type Signed } from './judge-signature.ts';
import { refuted, unavailable } from './report.ts';
import { toSigstoreBundle } from './sigstore-bundle.ts';
import { isTrustedAt, toRefusal, trustedTime } from './sigstore-refusal.ts';

export interface SigstoreTrust {
  readonly root: TrustedRoot;
  /** The managed key to judge by; absent: the bundle's certificate. */
  readonly key?: KeyObject;
  /**
   * Judges a certificate at this time, which the caller vouches for, instead of at logged ones. Milliseconds since the
   * epoch.
   */
  readonly atMs?: number;
  /** What a message signature was made over. */
  readonly signed?: Signed;
}

export interface SigstoreProof {
  /** The root that it was verified under: one member of several, by a key all of them together. */
  readonly root: Root;
  /** The issuer that the certificate names. */
  readonly issuer: string | undefined;
  /** Where the certificate says that the signer's workflow ran. */
  readonly source: CertifiedSource;
  /** Of the log entries those of logs that the root names; each was verified. */
  readonly entries: number;
  /** What time-stamp authorities of the root said, ISO 8601. */
  readonly times: readonly string[];
}

type Entries = SignedEntity['tlogEntries'];

/**
 * Has the sigstore library verify a bundle: certificate chain at the signed time, certificate log, transparency log,
 * time stamps; the signature itself is judged here, in every form that is in use. Thresholds are one of each kind that
 * the trusted root names; of the times always one where a certificate signs. Entries and time stamps of services that
 * the root does not name count for nothing. Not compared: subjects and identity. Throws refusals for a check list,
 * `detail.at` being `log` where the log is at fault.
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

/** `undefined` for what is no certificate, which the library refuses. */
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
  { key, atMs, signed }: SigstoreTrust,
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
    const signature = judgedHere(entity.signature, bundle, signed, verdict);
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
    const { identity } = verifier.verify({
      ...entity,
      signature,
      tlogEntries: entries,
      timestamps: atMs === undefined ? [...stamps, ...timesOf(entries)] : [statedTime(atMs)],
    });
    const stamped = stamps.map(({ timestamp }) => timestamp.signingTime);
    const times = atMs === undefined ? [...stamped, ...promisedTimes(entries)] : [new Date(atMs)];
    for (const entry of entries) {
      requireSameHead(entry);
      requireTrustedLog(entry, times, root);
    }
    return {
      root,
      ...claimsOf(identity?.oids ?? []),
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

/** Entries of other logs prove nothing, and do no harm beside one that does. */
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
 * only, and an entry of Rekor v2 has none. A signature by a key may have no time: what a log signed stays signed.
 */
function requireTrustedLog(entry: Entries[number], times: readonly Date[], root: Root): void {
  if (entry.inclusionPromise !== undefined || times.length === 0) return;
  if (times.some((time) => isTrustedAt(entry, root, time))) return;
  throw unavailable('untrusted-log', {
    at: 'log',
    expected: trustedTime,
    found: times.map((time) => time.toISOString()),
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

/** Times that logs promised, each of a log once: the library takes two of the same for one that was copied. */
function timesOf(entries: Entries): SignedEntity['timestamps'] {
  const times = new Map<string, Entries[number]>();
  for (const entry of entries)
    if (entry.integratedTime && entry.integratedTime !== '0')
      times.set(`${entry.logId.keyId.toString('hex')} ${entry.integratedTime}`, entry);
  return [...times.values()].map((tlogEntry) => ({ $case: 'transparency-log', tlogEntry }));
}

/**
 * The library's content of a bundle, except that its signature is judged in every form, and by digests where no more is
 * at hand.
 */
function judgedHere(
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
      if (!canJudgeBy(key)) throw unavailable('unsupported', { found: `a ${key.asymmetricKeyType} key` });
      verdict.found = signed && judgeSignature(key, signed, content.signature);
      return verdict.found === 'holds';
    },
  };
}

/** A time in the only form that the library takes: that of a log which promised an entry. */
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

/**
 * Issuer and source as the library reads them. The issuer is Fulcio's extension, a UTF8String, or its forerunner that
 * held the bare text; the same one twice, or both with different names, name nobody.
 */
function claimsOf(
  extensions: readonly {
    readonly oid: { readonly id: readonly number[] } | undefined;
    readonly value: Buffer;
  }[],
): Pick<SigstoreProof, 'issuer' | 'source'> {
  const valuesOf = (arc: number): readonly Buffer[] =>
    extensions
      .filter((extension) => extension.oid?.id.join('.') === `1.3.6.1.4.1.57264.1.${arc}`)
      .map(({ value }) => value);
  return { issuer: onlyIssuer(valuesOf(8), valuesOf(1)), source: toCertifiedSource(valuesOf) };
}

type Timestamps = SignedEntity['timestamps'];
type Rfc3161 = Extract<Timestamps[number], { $case: 'timestamp-authority' }>;

/**
 * The RFC 3161 time stamps that authorities of the root made over this signature, each time of an authority once. One
 * by an authority that the root does not name says nothing and is left aside; one that claims to be of a named
 * authority and is not is a refusal.
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
      // The library judges a time stamp only within a bundle, so one of a signature that always holds.
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

/**
 * The time to the second. The library takes fractions of three digits only, and RFC 3161 (2.4.2) asks for as many as
 * say something.
 */
function readTime({ tstInfo }: Rfc3161['timestamp']): Date {
  const text = tstInfo.root.subs[4]?.value.toString('latin1') ?? '';
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d{1,9})?Z$/.exec(text) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time.getTime())) throw refuted('malformed', { found: 'a time stamp without a time' });
  return time;
}
