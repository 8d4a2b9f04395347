import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseTlogEntry } from '../bundle.ts';
import { preAuthEncoding } from '../dsse.ts';
import { entryKind, verifyLogEntry } from '../log/log-entry.ts';
import { isSignedBy } from '../public-key.ts';
import { type Anchors, type SigningAnchor, signersFor } from './anchors.ts';
import { type AnyBundle, parseAnyBundle } from './any-bundle.ts';
import { readCertificateClaims } from './certificate-claims.ts';
import { CheckList } from './check-list.ts';
import type { GivenArtifact } from './given-artifact.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { type AnyStatement, judgePredicate, readAttestation, type Subject } from './read-attestation.ts';
import { refuted, unavailable, type VerifyReport } from './report.ts';
import { describeInclusion, verifyBundledProof } from './verify-log.ts';
import { verifyWithSigstore } from './verify-with-sigstore.ts';

export interface AttestationOptions {
  readonly artifacts: readonly GivenArtifact[];
  /** Finds, of these commit ids, one that the repository at hand has; absent where there is none at hand. */
  readonly findCommit?: (ids: readonly string[]) => Promise<string | undefined>;
  /** Predicate types that are asked for; none: those that are read here. */
  readonly types: readonly string[];
  /** Canonical digest of the spec that is meant. */
  readonly specDigest?: string;
  /** A log proof is asked for, by giving whom to believe about logs. */
  readonly logged: boolean;
  /** Only a run can be replayed. */
  readonly replay: boolean;
}

/**
 * Verifies one bundle or DSSE envelope of anybody's. As with runs, the payload is not looked at before its signature holds; and a subject always
 * is compared: with the artifacts given, or with the commits of the repository at hand.
 */
export async function verifyAttestation(
  bytes: Uint8Array,
  anchors: Anchors,
  options: AttestationOptions,
): Promise<VerifyReport> {
  const list = new CheckList();
  list.expect('bundle');
  const bundle = await list.judge('bundle', () => parseAnyBundle(bytes), describeBundle);
  if (bundle === undefined) {
    list.expect('signature', 'subject');
    return list.report();
  }
  list.grounds.digests.set('bundle', sha256Hex(bytes));
  list.expect('signature', ...(bundle.material.kind === 'certificate' ? ['identity'] : []), 'log');
  list.expect(...(bundle.content.kind === 'envelope' ? ['statement', 'predicate'] : []), 'subject');
  if (options.specDigest !== undefined) list.expect('spec');
  if (options.replay) list.expect('replay');

  const artifact = await verifyMessageSubject(list, bundle, options.artifacts);
  if (bundle.content.kind === 'message' && artifact === undefined) return list.report();
  const key =
    bundle.material.kind === 'certificate'
      ? await verifyByCertificate(list, bundle, anchors, artifact)
      : await verifyByKey(list, bundle, anchors, artifact);
  if (key === undefined) return list.report();

  const claims = await verifyStatement(list, bundle, options);
  if (key !== 'certificate') await verifyEntries(list, bundle, key, anchors, options, claims, artifact);
  if (options.replay)
    list.settle('replay', 'missing', 'missing', { expected: 'a run, or its exported evidence' });
  return list.report();
}

function describeBundle({ mediaType, content }: AnyBundle) {
  return { media_type: mediaType, content: content.kind };
}

/** The bytes that a message signature is about, once they have the digest that the bundle names. */
async function verifyMessageSubject(
  list: CheckList,
  { content }: AnyBundle,
  artifacts: readonly GivenArtifact[],
): Promise<Buffer | undefined> {
  if (content.kind !== 'message') return undefined;
  return list.judge('subject', async () => {
    const found = `${content.algorithm}:${content.digest.toString('hex')}`;
    if (content.algorithm !== 'SHA2_256') throw refuted('malformed', { expected: 'SHA2_256', found });
    const [artifact, ...more] = artifacts;
    if (artifact === undefined)
      throw unavailable('missing', { expected: 'the artifact (`--artifact FILE`)', found });
    if (more.length > 0 || artifact.sha256 !== content.digest.toString('hex'))
      throw refuted('wrong-subject', { expected: artifacts.map(({ sha256 }) => `sha256:${sha256}`), found });
    if (artifact.read === undefined)
      throw unavailable('missing', {
        expected: 'the artifact as a file: its bytes were signed, not its digest',
        found,
      });
    return artifact.read();
  });
}

async function verifyByKey(
  list: CheckList,
  bundle: AnyBundle,
  anchors: Anchors,
  artifact: Buffer | undefined,
): Promise<KeyObject | undefined> {
  const { content, material } = bundle;
  const hint = material.kind === 'key' ? material.hint : '';
  const signer = await list.judge(
    'signature',
    (): SigningAnchor => {
      const candidates = signersFor(anchors, hint);
      const signed = signedBytes(bundle, artifact);
      const signer = candidates.find(({ key }) => isSignedBy(key, signed, content.signature));
      if (signer) return signer;
      if (candidates.some(({ keyId }) => keyId === hint)) throw refuted('bad-signature', { key_id: hint });
      throw unavailable('untrusted-signer', {
        key_id: hint,
        tried: candidates.map(({ keyId }) => keyId),
      });
    },
    (anchor) => ({ key_id: anchor.keyId, anchor: anchor.from }),
  );
  if (signer) list.grounds.signer = { key_id: signer.keyId, anchor: signer.from };
  return signer?.key;
}

function signedBytes({ content }: AnyBundle, artifact: Buffer | undefined): Buffer {
  if (content.kind === 'envelope') return preAuthEncoding(content.payloadType, content.payload);
  return artifact ?? Buffer.alloc(0);
}

/** Chain, time, logs and signature by the sigstore library; whose certificate it must be is compared here, literally. */
async function verifyByCertificate(
  list: CheckList,
  bundle: AnyBundle,
  anchors: Anchors,
  artifact: Buffer | undefined,
): Promise<'certificate' | undefined> {
  const { trustedRoot: root, identity: wanted } = anchors;
  if (bundle.material.kind !== 'certificate') return undefined;
  const claimed = readCertificateClaims(bundle.material.der);
  let found = { identity: claimed.identity ?? 'none', issuer: claimed.issuer ?? 'none' };
  const refused = (fault: unknown): never => {
    throw fault;
  };
  let fault: unknown;
  try {
    if (root === undefined || wanted === undefined)
      throw unavailable('untrusted-signer', {
        expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
        ...found,
      });
    const { issuer = 'none' } = await verifyWithSigstore(bundle, { root, ...(artifact && { artifact }) });
    found = { ...found, issuer };
  } catch (thrown) {
    fault = thrown;
  }
  const atLog = isWritError(fault) && fault.detail.at === 'log';
  if (fault !== undefined && atLog) {
    await list.judge('log', () => refused(fault));
    return undefined;
  }
  const verified = await list.judge(
    'signature',
    () => (fault === undefined ? true : refused(fault)),
    () => found,
  );
  if (!verified) return undefined;
  if (root?.root.tlogs.length === 0) list.waive('log', 'not-required');
  else list.settle('log', 'passed', undefined, { entries: bundle.entries.length });
  const same = await list.judge('identity', () => {
    for (const name of ['identity', 'issuer'] as const) {
      if (found[name] === 'none' || found[name] !== wanted?.[name])
        throw unavailable('untrusted-signer', {
          expected: [wanted?.identity ?? '', wanted?.issuer ?? ''],
          found: [found.identity, found.issuer],
        });
    }
    return true;
  });
  if (!same) return undefined;
  list.grounds.signer = found;
  return 'certificate';
}

async function verifyStatement(
  list: CheckList,
  { content }: AnyBundle,
  options: AttestationOptions,
): Promise<ProvenanceClaims | undefined> {
  if (content.kind !== 'envelope') {
    if (options.specDigest !== undefined)
      list.settle('spec', 'missing', 'missing', { found: 'no statement' });
    return undefined;
  }
  const statement = await list.judge(
    'statement',
    () => readAttestation(content.payloadType, content.payload),
    ({ predicateType, subjects }) => ({ predicate_type: predicateType, subjects: subjects.length }),
  );
  if (statement === undefined) return undefined;
  const claims = await list.judge('predicate', () => ({
    ours: judgePredicate(statement, content.payload, options.types),
  }));
  await list.judge(
    'subject',
    () => requireSubject(statement, options),
    (found) => found,
  );
  const { specDigest } = options;
  if (specDigest !== undefined)
    await list.judge('spec', () => {
      const found = claims?.ours?.specDigest;
      if (found === undefined)
        throw unavailable('missing', { expected: specDigest, found: 'no digest of a spec' });
      if (found !== specDigest) throw refuted('mismatch', { expected: specDigest, found });
    });
  return claims?.ours;
}

/** Every artifact given is a subject; without one, a subject is a commit that is at hand. */
async function requireSubject(
  { subjects }: AnyStatement,
  { artifacts, findCommit }: AttestationOptions,
): Promise<{ readonly commit: string } | { readonly artifact: readonly string[] }> {
  const found = subjects.slice(0, 20).flatMap(describeSubject);
  for (const { sha256 } of artifacts) {
    if (!subjects.some(({ digest }) => digest.get('sha256') === sha256))
      throw refuted('wrong-subject', { expected: `sha256:${sha256}`, found });
  }
  if (artifacts.length > 0) return { artifact: artifacts.map(({ name }) => name) };
  const ids = subjects.flatMap(({ digest }) => digest.get('gitCommit') ?? []);
  const commit = ids.length === 0 ? undefined : await findCommit?.(ids);
  if (commit !== undefined) return { commit };
  throw unavailable('missing', { expected: 'what it is about (`--artifact FILE`)', found });
}

function describeSubject({ name, digest }: Subject): readonly string[] {
  return [...digest].map(([algorithm, value]) =>
    `${name === '' ? '' : `${name} `}${algorithm}:${value}`.slice(0, 400),
  );
}

/** Every log entry of a bundle by key holds: ours and those of Rekor v2 by our own code, others by the library and a trusted root. */
async function verifyEntries(
  list: CheckList,
  bundle: AnyBundle,
  key: KeyObject,
  anchors: Anchors,
  options: AttestationOptions,
  claims: ProvenanceClaims | undefined,
  artifact: Buffer | undefined,
): Promise<void> {
  const [entry, ...more] = bundle.entries;
  if (entry === undefined) {
    if (options.logged) list.settle('log', 'missing', 'not-logged');
    else list.waive('log', 'not-required');
    return;
  }
  const { content } = bundle;
  const { kind, version } = Object(entry.kindVersion) as { kind?: unknown; version?: unknown };
  const isOurs = kind === entryKind.kind && version === entryKind.version && more.length === 0;
  if (isOurs && content.kind === 'envelope') {
    const inclusion = await list.judge(
      'log',
      () => {
        const proof = parseTlogEntry(entry, '/verificationMaterial/tlogEntries/0');
        verifyLogEntry(proof.body, { ...content, keyId: '' }, key);
        return verifyBundledProof(proof, anchors, claims?.ledger);
      },
      describeInclusion,
    );
    if (inclusion) list.grounds.log = describeInclusion(inclusion);
    return;
  }
  await list.judge('log', async () => {
    const root = anchors.trustedRoot;
    if (root === undefined || root.root.tlogs.length === 0)
      throw unavailable('untrusted-log', {
        expected: '`--trusted-root FILE`',
        found: `${String(kind)} ${String(version)}`,
      });
    await verifyWithSigstore(bundle, { root, key, ...(artifact && { artifact }) });
  });
}
