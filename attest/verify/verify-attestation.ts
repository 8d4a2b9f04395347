/* Verifies one bundle or envelope of any tool. */
import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { type AnyBundle, type Content, type HintedSignature, parseAnyBundle } from '../bundle/any-bundle.ts';
import { preAuthEncoding } from '../encoding/dsse.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { type Anchors, type SigningAnchor, signerNamed, signersFor } from './anchors.ts';
import { maySignStatements, readCertificateClaims, readCertifiedSource } from './certificate-claims.ts';
import { type SourceDemands, sourceChecks, verifySource } from './certified-source.ts';
import {
  type ArtifactHash,
  artifactHashes,
  digestsOf,
  distinctArtifacts,
  type GivenArtifact,
  requireSubject,
  type SubjectDemands,
} from './given-artifact.ts';
import { type SummaryDemands, summaryChecks, verifySummaryDemands } from './predicates/summary.ts';
import {
  type AnyStatement,
  knownPredicates,
  type ReadPredicate,
  readAttestation,
  readPredicate,
} from './read-attestation.ts';
import {
  askedCommitId,
  type CheckDetail,
  CheckList,
  refuted,
  unavailable,
  type VerifyReport,
} from './report.ts';
import { type Signed, signatureVerdict, signedDigests } from './signature-verdict.ts';
import { verifyEntries } from './verify-log.ts';
import { type SigstoreProof, verifyWithSigstore } from './verify-with-sigstore.ts';

export interface AttestationOptions extends SubjectDemands {
  /** The verifier's clock, in milliseconds since the epoch. A signed time must not be later. */
  readonly nowMs: number;
  /** Predicate types that the user named; none: those that are read here. */
  readonly types: readonly string[];
  /** Canonical digest of the spec that is meant. */
  readonly specDigest?: string;
  /** A log proof is required, because the user named logs to trust. */
  readonly logged: boolean;
  /** A log proof is explicitly required and has no substitute. */
  readonly logRequired?: boolean;
  /** Only a run can be replayed. */
  readonly replay: boolean;
  /** Ids of checks that only a run can answer. */
  readonly unanswerable?: readonly string[];
  /** What the user has seen of logs; a fork of it is refused. */
  readonly memory?: CheckpointMemory;
  /** Required content of a verification summary. Any other predicate settles these checks as `missing`. */
  readonly summary: SummaryDemands;
  /** What the certificate must name as the source. */
  readonly source?: SourceDemands;
}

/**
 * Verifies one bundle or DSSE envelope of any tool. As with runs, the payload is not read before its signature holds,
 * and a subject is always compared: with the given artifacts, the named commits, or the checked-out commit.
 */
export async function verifyAttestation(
  bytes: Uint8Array,
  anchors: Anchors,
  options: AttestationOptions,
): Promise<VerifyReport> {
  const list = new CheckList();
  list.expect('bundle');
  const bundle = await list.run('bundle', () => parseAnyBundle(bytes), describeBundle);
  if (bundle === undefined) {
    list.expect('signature', 'subject');
    return list.report();
  }
  list.grounds.digests.set('bundle', sha256Hex(bytes));
  const { material } = bundle;
  const aboutSource = sourceChecks(
    options.source,
    material.kind === 'certificate' ? material.der : undefined,
  );
  expectChecks(list, bundle, aboutSource, options);
  const signed = await readSigned(list, bundle, options.artifacts);
  if (signed === undefined) return list.report();
  if (material.kind === 'certificate') {
    const { der } = material;
    const proven = await verifyByCertificate(list, bundle, der, anchors, signed, options.logRequired);
    if (proven === undefined) return list.report();
    const { statement } = await verifyStatement(list, bundle, options);
    await verifySource(list, aboutSource, options.source, readCertifiedSource(der), statement);
  } else {
    const key = await verifyByKey(list, bundle, anchors, signed);
    if (key === undefined) return list.report();
    const { predicate } = await verifyStatement(list, bundle, options);
    await verifySource(list, aboutSource, options.source);
    const { logged: demanded, logRequired: required = false, memory, nowMs } = options;
    const vouched = predicate?.ours?.ledger;
    const keyed = { bundle, key, signed, demanded, required, vouched, memory, nowMs };
    await verifyEntries(list, keyed, anchors);
  }
  settleUnanswerable(list, bundle, options);
  return list.report();
}

function expectChecks(
  list: CheckList,
  { material, content }: AnyBundle,
  aboutSource: readonly string[],
  options: AttestationOptions,
): void {
  list.expect('signature');
  if (material.kind === 'certificate') list.expect('identity');
  list.expect(...aboutSource, 'log');
  if (content.kind === 'envelope') list.expect('statement');
  if (content.kind === 'envelope' || options.types.length > 0) list.expect('predicate');
  list.expect('subject');
  if (options.specDigest !== undefined) list.expect('spec');
  list.expect(...runOnly(options));
  if (isCommitUnanswered(content, options)) list.expect(askedCommitId);
  list.expect(...summaryChecks(options.summary));
}

/** Ids of the demanded checks that only a run can answer. */
function runOnly({ replay, unanswerable = [] }: AttestationOptions): readonly string[] {
  return [...(replay ? ['replay'] : []), ...unanswerable];
}

function isCommitUnanswered({ kind }: Content, { commits = [] }: AttestationOptions): boolean {
  return kind === 'message' && commits.length > 0;
}

function settleUnanswerable(list: CheckList, { content }: AnyBundle, options: AttestationOptions): void {
  if (isCommitUnanswered(content, options))
    list.settle(askedCommitId, 'missing', 'missing', { expected: 'a statement about a commit' });
  for (const id of runOnly(options))
    list.settle(id, 'missing', 'missing', { expected: 'a run, or its exported evidence' });
}

function describeBundle({ mediaType, content }: AnyBundle) {
  return { media_type: mediaType, content: content.kind };
}

/** What the signature is over; of a message only once it is the artifact given. */
function readSigned(
  list: CheckList,
  { content }: AnyBundle,
  artifacts: readonly GivenArtifact[],
): Promise<Signed | undefined> {
  return content.kind === 'message'
    ? list.run('subject', () => readSignedMessage(content, artifacts))
    : Promise.resolve(preAuthEncoding(content.payloadType, content.payload));
}

async function verifyStatement(
  list: CheckList,
  { content }: AnyBundle,
  options: AttestationOptions,
): Promise<{ readonly statement?: AnyStatement; readonly predicate?: ReadPredicate }> {
  if (content.kind !== 'envelope') {
    const found = 'no statement';
    if (options.specDigest !== undefined) list.settle('spec', 'missing', 'missing', { found });
    if (options.types.length > 0)
      list.settle('predicate', 'missing', 'missing', { expected: options.types, found });
    await verifySummaryDemands(list, options.summary, undefined);
    return {};
  }
  const statement = await list.run(
    'statement',
    () => readAttestation(content.payloadType, content.payload),
    ({ predicateType, subjects }) => ({ predicate_type: predicateType, subjects: subjects.length }),
  );
  if (statement === undefined) return {};
  const predicate = await verifyPredicate(list, statement, content.payload, options.types, options.nowMs);
  if (predicate) await verifySummaryDemands(list, options.summary, predicate.summary);
  if (predicate?.ours) {
    list.grounds.plugins = predicate.ours.plugins;
    list.grounds.models = predicate.ours.models;
  }
  await list.run(
    'subject',
    () => requireSubject(statement.subjects, options),
    (found) => found,
  );
  const { specDigest } = options;
  if (specDigest !== undefined)
    await list.run('spec', () => {
      const found = predicate?.ours?.specDigest;
      if (found === undefined)
        throw unavailable('missing', { expected: specDigest, found: 'no digest of a spec' });
      if (found !== specDigest) throw refuted('mismatch', { expected: specDigest, found });
    });
  return { statement, ...(predicate && { predicate }) };
}

/**
 * Parses a known predicate completely. Any other predicate is `not-judged`: it stays unverified, unless the user
 * named its type and so evaluates it elsewhere.
 */
async function verifyPredicate(
  list: CheckList,
  statement: AnyStatement,
  payload: Buffer,
  asked: readonly string[],
  nowMs: number,
): Promise<ReadPredicate | undefined> {
  const isRead = knownPredicates.includes(statement.predicateType);
  if (isRead || (asked.length > 0 && !asked.includes(statement.predicateType)))
    return list.run('predicate', () => readPredicate(statement, payload, asked, nowMs), describePredicate);
  const detail = { found: statement.predicateType };
  if (asked.length > 0) list.waive('predicate', 'not-judged', detail);
  else list.settle('predicate', 'unverified', 'not-judged', { ...detail, expected: knownPredicates });
  return {};
}

/** Reports the claims of a summary. Its verifier and resource are the signer's word unless the user demands them. */
function describePredicate({ summary }: ReadPredicate): CheckDetail | undefined {
  if (summary === undefined) return undefined;
  return { verifier: summary.verifierId, resource_uri: summary.resourceUri, levels: summary.levels };
}

const hashes: Readonly<Record<string, ArtifactHash>> = {
  SHA2_256: 'sha256',
  SHA2_384: 'sha384',
  SHA2_512: 'sha512',
};

/**
 * Returns the signed content of a message signature. The only given artifact must have the digest that the bundle
 * names. Returns its bytes if they are available and within the size limit, else its digests.
 */
async function readSignedMessage(
  { algorithm, digest }: Content & { readonly kind: 'message' },
  artifacts: readonly GivenArtifact[],
): Promise<Signed> {
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  const found = `${algorithm}:${digest.toString('hex')}`;
  if (hash === undefined) throw unavailable('unsupported', { expected: Object.keys(hashes), found });
  const [artifact, ...more] = distinctArtifacts(artifacts);
  if (artifact === undefined)
    throw unavailable('missing', { expected: 'the artifact (`--artifact FILE`)', found });
  const expected = artifacts.flatMap(digestsOf);
  if (more.length > 0) throw refuted('wrong-subject', { expected, found });
  const given = artifact[hash];
  if (given === undefined)
    throw unavailable('missing', { expected: `its digest by ${hash}, or the file itself`, found });
  if (given !== digest.toString('hex')) throw refuted('wrong-subject', { expected, found });
  try {
    if (artifact.read) return await artifact.read();
  } catch (fault) {
    if (!isWritError(fault, 'INPUT_TOO_LARGE')) throw fault;
  }
  return signedDigests(
    new Map(
      artifactHashes.flatMap((one) => {
        const hex = artifact[one];
        return hex === undefined ? [] : [[one, Buffer.from(hex, 'hex')] as const];
      }),
    ),
  );
}

/**
 * The sigstore library verifies chain, time, logs and signature. Identity and issuer are compared here, literally.
 *
 * Returns the proof if all checks pass. If a required log entry is missing (`logRequired`, or a given ledger), a
 * separate check reports it.
 */
async function verifyByCertificate(
  list: CheckList,
  bundle: AnyBundle,
  der: Buffer,
  anchors: Anchors,
  signed: Signed,
  logRequired = false,
): Promise<SigstoreProof | undefined> {
  const { trustedRoot: root, identity: wanted } = anchors;
  const { identity = 'none', issuer = 'none' } = readCertificateClaims(der);
  let proven: SigstoreProof;
  try {
    if (root === undefined || wanted === undefined)
      throw unavailable('untrusted-signer', {
        expected: '`--trusted-root FILE`, `--identity` and `--issuer`',
        identity,
        issuer,
      });
    proven = await verifyWithSigstore(bundle, { root, signed });
    if (!maySignStatements(der))
      throw unavailable('untrusted-signer', {
        found: 'a certificate that is not for code signing',
        identity,
        issuer,
      });
  } catch (fault) {
    list.refuse(isWritError(fault) && fault.detail.at === 'log' ? 'log' : 'signature', fault);
    return undefined;
  }
  const found = { identity, issuer };
  list.settle('signature', 'passed', undefined, found);
  const ledgers = anchors.ledgers.filter(({ from }) => from === 'given');
  // Entries of our ledgers are by keys: none of them is of what a certificate signs.
  if (ledgers.length > 0)
    list.settle('log', 'missing', 'not-logged', { expected: ledgers.map(({ name }) => name) });
  else if (proven.root.tlogs.length === 0 && logRequired) list.settle('log', 'missing', 'not-logged');
  else if (proven.root.tlogs.length === 0) list.waive('log', 'not-required');
  else list.settle('log', 'passed', undefined, { entries: proven.entries });
  const isSame = await list.run('identity', () => {
    for (const name of ['identity', 'issuer'] as const) {
      if (found[name] === 'none' || found[name] !== wanted?.[name])
        throw unavailable('untrusted-signer', {
          expected: [wanted?.identity ?? '', wanted?.issuer ?? ''],
          found: [found.identity, found.issuer],
        });
    }
    return true;
  });
  if (isSame !== true) return undefined;
  list.grounds.signer = found;
  return proven;
}

/**
 * Requires that one of the signatures is by a trusted key, and returns that key. Signatures of others count neither
 * way, because hints are unauthenticated. Refuted only if a hint names a trusted key that did not sign, and no other
 * trusted key did.
 */
async function verifyByKey(
  list: CheckList,
  bundle: AnyBundle,
  anchors: Anchors,
  signed: Signed,
): Promise<KeyObject | undefined> {
  const signer = await list.run(
    'signature',
    () => findSigner(signaturesOf(bundle), anchors, signed),
    (anchor) => ({ key_id: anchor.keyId, anchor: anchor.from }),
  );
  if (signer) list.grounds.signer = { key_id: signer.keyId, anchor: signer.from };
  return signer?.key;
}

function signaturesOf({ content, material }: AnyBundle): readonly HintedSignature[] {
  const outer = material.kind === 'key' ? material.hint : '';
  if (content.kind === 'message') return [{ hint: outer, signature: content.signature }];
  const [first, ...more] = content.signatures;
  return [{ ...first, hint: first.hint || outer }, ...more];
}

function findSigner(signatures: readonly HintedSignature[], anchors: Anchors, signed: Signed): SigningAnchor {
  const tried = new Set<string>();
  let isOpen = false;
  for (const { hint, signature } of signatures) {
    for (const anchor of signersFor(anchors, hint)) {
      tried.add(anchor.keyId);
      const verdict = signatureVerdict(anchor.key, signed, signature);
      if (verdict === 'holds') return anchor;
      if (verdict === 'cannot') isOpen = true;
    }
  }
  if (isOpen)
    throw unavailable('missing', {
      expected: 'the artifact as a file: nothing can be said of this signature by these digests',
    });
  const named = signatures
    .map(({ hint }) => signerNamed(anchors, hint))
    .find((anchor) => anchor !== undefined);
  if (named) throw refuted('bad-signature', { key_id: named.keyId });
  throw unavailable('untrusted-signer', {
    key_id: signatures.map(({ hint }) => hint).join(' '),
    tried: [...tried],
  });
}
