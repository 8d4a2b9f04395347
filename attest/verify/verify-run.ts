import { canonicalize } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ReplayRecord } from '../../core/interfaces/replay-record.ts';
import { approvalType } from '../approval/approval-statement.ts';
import { type Bundle, formatBundle, readSeal } from '../bundle/bundle.ts';
import { inTotoPayloadType, preAuthEncoding } from '../encoding/dsse.ts';
import { expectObject, parseJsonObject } from '../encoding/expect-json.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { recordsSignature } from '../log/log-entry.ts';
import { equivalenceType } from '../statement/approval-equivalence.ts';
import { subjectsOf } from '../statement/build-provenance.ts';
import { buildRevocation, revocationType } from '../statement/revocation.ts';
import { slsaProvenanceType } from '../statement/slsa-provenance.ts';
import { type Anchors, findSigner } from './anchors.ts';
import { type SourceDemands, sourceChecks, verifySource } from './certified-source.ts';
import { CheckList } from './check-list.ts';
import { type EvidenceSource, patchFile, runFiles } from './evidence-source.ts';
import { commitIdOf, type GitCommit, parseCommit } from './git-commit.ts';
import { requirePast } from './predicates/require-past.ts';
import { type ProvenanceClaims, readProvenance } from './provenance-claims.ts';
import { refuted, unavailable, type VerifyReport } from './report.ts';
import { type RunSigner, verifySigner } from './run-signer.ts';
import { judgeSummary, type SummaryDemands, summaryChecks } from './summary-demands.ts';
import { verifyApprovals } from './verify-approvals.ts';
import { equivalenceCheck, verifyEquivalence } from './verify-equivalence.ts';
import { isExpired, requireDigest, verifyEvidence } from './verify-evidence.ts';
import { type LaterEntries, verifyHistory } from './verify-history.ts';
import { describeInclusion, verifyLog } from './verify-log.ts';
import { demandPolicy, type PolicyDemand, policyDemandId, verifyPolicy } from './verify-policy.ts';
import { verifyReplay } from './verify-replay.ts';
import { type VerifiedSpec, verifySpec } from './verify-spec.ts';
import { companionChecks, verifyStatements } from './verify-statements.ts';
import { treeChecks, verifyTree } from './verify-tree.ts';

export interface VerifyOptions {
  readonly clock: Clock;
  /** The checkpoints this user has seen; shrinking and forking logs are told by it. */
  readonly memory: CheckpointMemory;
  /** The run that is meant; by default the one the commit names. */
  readonly runId?: string;
  /** Canonical digest of the spec that is meant (`--spec`). */
  readonly specDigest?: string;
  /** Whose approvals the verifier believes (`--allowed-signers`); absent: approvals are told and not counted. */
  readonly allowedSigners?: Uint8Array;
  /** SHA-256 of files that must be subject or evidence of this run (`--artifact`). */
  readonly artifacts?: readonly string[];
  /**
   * An entry in a log is asked for whatever the contract says (`--ledger-key`), and that the log continues what was
   * seen (`--require log`).
   */
  readonly logged?: 'as-contract' | 'entry' | 'continued';
  /** Approvals that nobody judged are an error (`--require approvals`). */
  readonly requireApprovals?: boolean;
  /** Decides again from the stored inputs; the same bytes are demanded (`--replay`). */
  readonly replay?: ReplayRecord;
  /** Predicate types of which the set must hold a statement that holds itself (`--type`). */
  readonly types?: readonly string[];
  /** What its verification summary must say (`--verifier-id`, `--resource-uri`, `--level`). */
  readonly summary?: SummaryDemands;
  /** What the signer's certificate must name (`--source-repository`, `--source-ref`). */
  readonly source?: SourceDemands;
  /** By whose policy alone it may have been judged (`--policy`). */
  readonly policy?: PolicyDemand;
}

const always = [
  'bundle',
  'signature',
  'statement',
  'subject-commit',
  'subject-tree',
  'subject-patchset',
  'run',
  'policy',
  'spec',
  'evidence',
  'evidence-stored',
] as const;
const logged = ['log-entry', 'log-inclusion', 'log-proof', 'log-history'] as const;

/**
 * Verifies one sealed change offline. Nothing in the payload is looked at before an anchored key is shown to have
 * signed it; whatever could then not run stays unanswered and counts against. Only stores that cannot be read make it
 * throw.
 */
export async function verifyRun(
  source: EvidenceSource,
  anchors: Anchors,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const list = new CheckList();
  const artifacts = [...new Set(options.artifacts)].map((sha256) => ({ id: `artifact:${sha256}`, sha256 }));
  list.expect(
    ...always,
    ...treeChecks(source),
    ...companionChecks,
    ...logged,
    ...artifacts.map(({ id }) => id),
  );
  if (options.replay) list.expect('replay');
  if (options.policy) list.expect(policyDemandId);
  const summary = options.summary ?? { levels: [] };
  list.expect(...summaryChecks(summary), ...sourceChecks(options.source));
  const types = [...new Set(options.types)];
  list.expect(...types.map((type) => `type:${type}`));

  await verifyPlainView(list, source);

  const bundleBytes = await source.readRun(runFiles.bundle);
  const seal = await list.judge('bundle', async () => {
    if (bundleBytes === undefined) throw await missingBundle(source);
    list.grounds.digests.set(runFiles.bundle, sha256Hex(bundleBytes));
    return readSeal(bundleBytes);
  });
  if (seal === undefined) return list.report();
  const { bundle } = seal;
  const signer = await list.judge(
    'signature',
    () => verifySigner(seal, anchors),
    ({ ground }) => ({ ...ground }),
  );
  if (signer === undefined) return list.report();
  list.grounds.signer = signer.ground;
  const aboutSource = sourceChecks(options.source, signer.certificate);
  list.expect(...aboutSource);
  // The repository of a sealed change is not that of the workflow that sealed it: the two are not compared.
  await verifySource(list, aboutSource, options.source, signer.source);
  const claims = await list.judge('statement', () => readStatement(bundle, options.clock.now()));
  const commit = parseCommit(source.commit.raw);
  if (claims === undefined) return list.report();
  list.grounds.plugins = claims.plugins;
  list.grounds.digests.set(patchFile, claims.patchset);
  for (const { name, sha256 } of claims.byproducts) list.grounds.digests.set(name, sha256);

  await list.judge('subject-commit', () => verifyCommit(source, claims, commit));
  await list.judge('subject-tree', () => {
    if (commit?.tree !== claims.tree) throw wrongSubject(claims.tree, commit?.tree);
  });
  await verifyTree(list, source, claims.tree);
  await list.judge('run', () => verifyRunId(claims, commit, options.runId));
  await list.judge(
    'policy',
    () => verifyPolicy(source, commit, claims),
    ({ commit: policy, how, ref, defaultRef, beneath }) => ({
      policy_commit: policy ?? 'none',
      how,
      ...(ref === undefined ? {} : { policy_ref: ref }),
      ...(defaultRef === undefined ? {} : { default_ref: defaultRef ?? 'none' }),
      ...(beneath === undefined ? {} : { beneath_by: beneath.slice(0, 10) }),
    }),
  );
  const { policy: demanded } = options;
  if (demanded) await list.judge(policyDemandId, () => demandPolicy(demanded, claims));
  const spec = await list.judge('spec', () => {
    if (commit === undefined) throw refuted('malformed', { found: 'not a commit object' });
    return verifySpec(source, commit, claims, options.specDigest);
  });
  await verifyPatch(list, source, claims, spec, options.clock.now());
  const revocation = await source.readRun(runFiles.revocation);
  const revoked = revocation !== undefined && (await isRevocation(revocation, anchors, claims));
  const renewed = await verifyRenewed(list, source, bundle);
  const later = [
    ...(revoked ? [runFiles.revocation, runFiles.rollback] : []),
    ...(renewed === undefined ? [] : [runFiles.renewedBundle, runFiles.renewedProof]),
  ];
  await verifyEvidence(list, source, claims, spec?.demands, options.clock.now(), later);
  const said = await verifyStatements(list, source, signer, claims, spec, later, options.clock.now());
  await judgeSummary(list, summary, said.summary);
  const { allowedSigners, requireApprovals } = options;
  const carried = await verifyEquivalence(list, source, signer, claims, spec, said.decision);
  await verifyApprovals(
    list,
    source,
    claims,
    spec,
    said.decision,
    commit,
    allowedSigners,
    carried,
    requireApprovals,
  );
  if (options.requireApprovals) list.demand('approvals');
  for (const { id, sha256 } of artifacts) {
    await list.judge(id, () => {
      const known = [claims.patchset, ...claims.byproducts.map((byproduct) => byproduct.sha256)];
      if (!known.includes(sha256))
        throw refuted('wrong-subject', { expected: sha256, found: namesOf(claims) });
    });
  }
  const { replay } = options;
  if (replay) await list.judge('replay', () => verifyReplay(source, claims, replay));
  const found = [...new Set([slsaProvenanceType, ...said.types, ...(await approvalTypes(list, source))])];
  for (const type of types) {
    await list.judge(`type:${type}`, () => {
      if (!found.includes(type)) throw refuted('wrong-type', { expected: type, found });
    });
  }
  const proof = await source.readRun(renewed === undefined ? runFiles.proof : runFiles.renewedProof);
  if (renewed && proof) list.grounds.digests.set(runFiles.renewedProof, sha256Hex(proof));
  const history = await verifyLogging(
    list,
    source,
    renewed ?? bundle,
    proof,
    signer,
    anchors,
    claims,
    spec,
    options,
  );
  if (revocation !== undefined || history !== undefined) {
    list.expect('not-revoked');
    await list.judge('not-revoked', () => {
      if (history?.revokedAt !== undefined) throw refuted('revoked', { index: history.revokedAt });
      if (revocation === undefined) return;
      throw refuted(revoked ? 'revoked' : 'unlisted', { path: runFiles.revocation });
    });
  }
  return list.report();
}

/**
 * The bundle with the log entry that was made again (`docs/ledger.md`, Machines without state): the same envelope, by
 * the same signer. No signature covers it, and none has to: the log entry is verified like that of the first bundle.
 */
async function verifyRenewed(
  list: CheckList,
  { readRun }: EvidenceSource,
  bundle: Bundle,
): Promise<Bundle | undefined> {
  const bytes = await readRun(runFiles.renewedBundle);
  if (bytes === undefined) return undefined;
  list.expect('bundle-renewed');
  list.grounds.digests.set(runFiles.renewedBundle, sha256Hex(bytes));
  return list.judge('bundle-renewed', () => {
    const renewed = readSeal(bytes).bundle;
    const unlogged = [renewed, bundle].map((one) => formatBundle({ ...one, proof: undefined }));
    if (unlogged[0] !== unlogged[1])
      throw refuted('mismatch', { found: 'another envelope than that of the bundle' });
    return renewed;
  });
}

/**
 * Where the repository replaces objects, the person who looks at this commit with plain git must see what was verified.
 */
async function verifyPlainView(list: CheckList, { replaced }: EvidenceSource): Promise<void> {
  if (replaced === undefined) return;
  list.expect('plain-git');
  await list.judge('plain-git', () => {
    if (replaced.length > 0) throw refuted('replaced', { found: replaced });
  });
}

/** Approvals are statements of the set too, as far as they were verified. */
async function approvalTypes(list: CheckList, source: EvidenceSource): Promise<readonly string[]> {
  const hasApprovals = (await source.listRun()).some((path) => /^approvals\/\d+\.json$/.test(path));
  return [
    ...(hasApprovals && list.statusOf('approvals') === 'passed' ? [approvalType] : []),
    ...(list.statusOf(equivalenceCheck) === 'passed' ? [equivalenceType] : []),
  ];
}

/** Says which statements are there, where the one that all rests on is not. */
async function missingBundle(source: EvidenceSource): Promise<Error> {
  const others = (await source.listRun()).filter((path) => path.endsWith('.sigstore.json'));
  return unavailable('missing', {
    path: runFiles.bundle,
    ...(others.length === 0 ? {} : { found: others.slice(0, 20) }),
  });
}

function namesOf(claims: ProvenanceClaims): readonly string[] {
  return [patchFile, ...claims.byproducts.map(({ name }) => name)].slice(0, 20);
}

function readStatement({ envelope: { payloadType, payload } }: Bundle, nowMs: number): ProvenanceClaims {
  if (payloadType !== inTotoPayloadType)
    throw refuted('wrong-type', { member: 'payloadType', expected: inTotoPayloadType, found: payloadType });
  const claims = readProvenance(payload);
  requirePast({ startedOn: claims.startedAtMs, finishedOn: claims.finishedAtMs }, nowMs);
  return claims;
}

function verifyCommit(
  { commit }: EvidenceSource,
  claims: ProvenanceClaims,
  parsed: GitCommit | undefined,
): void {
  const found = commitIdOf(commit.raw, commit.id);
  if (found !== commit.id) throw refuted('mismatch', { expected: commit.id, found });
  if (found === claims.commit) return;
  // A rebase, an amended commit and a cherry-pick keep the trailers and make another commit.
  const isRewritten = parsed?.trailer('Run-Id').includes(claims.runId) === true;
  const expected = claims.commit;
  throw refuted('wrong-subject', { expected, found, ...(isRewritten ? { rewritten_from: expected } : {}) });
}

function verifyRunId(
  claims: ProvenanceClaims,
  commit: GitCommit | undefined,
  meant: string | undefined,
): void {
  const found = commit?.trailer('Run-Id') ?? [];
  const same =
    found.length === 1 && found[0] === claims.runId && (meant === undefined || meant === claims.runId);
  if (!same) throw refuted('wrong-run', { expected: meant ?? claims.runId, found });
}

async function verifyPatch(
  list: CheckList,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  nowMs: number,
): Promise<void> {
  const patch = await source.readContent(patchFile);
  if (patch === undefined && isExpired(patchFile, claims, spec?.demands, nowMs)) {
    list.settle('subject-patchset', 'expired');
    return;
  }
  await list.judge('subject-patchset', () => requireDigest(patch, claims.patchset));
}

async function verifyLogging(
  list: CheckList,
  source: EvidenceSource,
  bundle: Bundle,
  proof: Uint8Array | undefined,
  signer: RunSigner,
  anchors: Anchors,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  options: VerifyOptions,
): Promise<LaterEntries | undefined> {
  const { memory, logged: asked = 'as-contract' } = options;
  const isWaived = asked === 'as-contract' && spec?.demands.logged === false;
  if (isWaived && bundle.proof === undefined && proof === undefined) {
    for (const id of logged) list.waive(id, 'not-required');
    return undefined;
  }
  const nowMs = options.clock.now();
  const inclusion = await verifyLog(list, bundle, proof, signer, anchors, claims.ledger, nowMs);
  if (inclusion === undefined) return undefined;
  list.grounds.log = describeInclusion(inclusion);
  const revokes = revocationMatcher(anchors, claims);
  return verifyHistory(list, inclusion, source, { memory, demanded: asked === 'continued', revokes });
}

function wrongSubject(expected: string, found: string | undefined): Error {
  return refuted('wrong-subject', { expected, found: found ?? 'none' });
}

/**
 * True when an anchored key, or a believed certificate's at a signed time, signed that this very run's provenance did
 * not take effect.
 */
async function isRevocation(bytes: Uint8Array, anchors: Anchors, claims: ProvenanceClaims): Promise<boolean> {
  try {
    const seal = readSeal(bytes);
    const { envelope } = seal.bundle;
    await verifySigner(seal, anchors);
    if (envelope.payloadType !== inTotoPayloadType) return false;
    const statement = parseJsonObject(envelope.payload, 1024 * 1024);
    const predicate = expectObject(statement.predicate, '/predicate');
    return statement.predicateType === revocationType && predicate.run_id === claims.runId;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return false;
    if (isWritError(fault, 'VERIFY_NOTHING')) return false;
    throw fault;
  }
}

/** Tells the log entry of this very run's revocation by an anchored key. The entry need not be about anything known. */
function revocationMatcher(anchors: Anchors, claims: ProvenanceClaims): (body: Uint8Array) => boolean {
  const subject = subjectsOf({ ...claims, patchDigest: claims.patchset });
  const payload = Buffer.from(canonicalize(buildRevocation(subject, claims.runId)));
  const signed = preAuthEncoding(inTotoPayloadType, payload);
  return (body) => recordsSignature(body, signed, (keyId) => findSigner(anchors, keyId)?.key);
}
