/* Verifies a sealed run: the pipeline of its checks, and the steps that no other file needs. */
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ReplayRecord } from '../../core/interfaces/sealing.ts';
import { approvalType } from '../approval/approval-statement.ts';
import { type Bundle, formatBundle, readSeal } from '../bundle/bundle.ts';
import { inTotoPayloadType, preAuthEncoding } from '../encoding/dsse.ts';
import { expectObject, parseJsonObject } from '../encoding/expect-json.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { recordsSignature } from '../log/log-entry.ts';
import {
  buildRevocation,
  equivalenceType,
  revocationType,
  slsaProvenanceType,
} from '../statement/run-statements.ts';
import { subjectsOf } from '../statement/statement.ts';
import { type Anchors, findSigner } from './anchors.ts';
import {
  demandPolicy,
  type PolicyDemand,
  policyDemandId,
  type SourceDemands,
  sourceChecks,
  verifyPolicy,
  verifySource,
} from './certified-source.ts';
import {
  commitIdOf,
  type EvidenceSource,
  type GitCommit,
  parseCommit,
  patchFile,
  runFiles,
} from './evidence-source.ts';
import { requirePast } from './predicates/members.ts';
import type { DecisionClaims } from './predicates/run-statements.ts';
import { type SummaryDemands, summaryChecks, verifySummaryDemands } from './predicates/summary.ts';
import { type ProvenanceClaims, readProvenance } from './provenance-claims.ts';
import { CheckList, refuted, unavailable, type VerifyReport } from './report.ts';
import { type RunFacts, type RunSigner, verifySigner } from './sealed-run.ts';
import { approvalPath, equivalenceCheck, verifyApprovals, verifyEquivalence } from './verify-approvals.ts';
import {
  treeChecks,
  verifyEvidence,
  verifyFile,
  verifyReplay,
  verifyTree,
  verifyWorkers,
} from './verify-evidence.ts';
import { type LaterEntries, verifyHistory } from './verify-history.ts';
import { describeInclusion, verifyLog } from './verify-log.ts';
import { type VerifiedSpec, verifySpec } from './verify-spec.ts';
import { companionChecks, verifyStatements } from './verify-statements.ts';

export interface VerifyOptions {
  readonly clock: Clock;
  /** The checkpoints that this user has seen; they reveal logs that shrank or forked. */
  readonly memory: CheckpointMemory;
  /** The run that the user named; by default the one that the commit names. */
  readonly runId?: string;
  /** Canonical digest of the spec that the user named (`--spec`). */
  readonly specDigest?: string;
  /** The verifier's allowed signers (`--allowed-signers`). If absent, approvals are reported but not counted. */
  readonly allowedSigners?: Uint8Array;
  /** SHA-256 of files that must be subject or evidence of this run (`--artifact`). */
  readonly artifacts?: readonly string[];
  /**
   * `entry`: a log entry is required even if the spec requires none (`--ledger-key`). `continued`: the log must also
   * be consistent with the user's stored checkpoints (`--require log`).
   */
  readonly logged?: 'as-contract' | 'entry' | 'continued';
  /** Approvals that were not verified are an error (`--require approvals`). */
  readonly requireApprovals?: boolean;
  /** Decides again from the stored inputs; the record must have the same bytes (`--replay`). */
  readonly replay?: ReplayRecord;
  /** Predicate types of which the run must hold a verified statement (`--type`). */
  readonly types?: readonly string[];
  /** Demands on the verification summary (`--verifier-id`, `--resource-uri`, `--level`). */
  readonly summary?: SummaryDemands;
  /** Demands on the signer's certificate (`--source-repository`, `--source-ref`). */
  readonly source?: SourceDemands;
  /** The only branch with an accepted policy (`--policy`). */
  readonly policy?: PolicyDemand;
}

const logChecks = ['log-entry', 'log-inclusion', 'log-proof', 'log-history'] as const;

/**
 * Verifies one sealed change offline. The payload is parsed only after a trusted key's signature over it is verified.
 * Checks that could not run prevent `verified`. Throws only if a store cannot be read.
 */
export async function verifyRun(
  source: EvidenceSource,
  anchors: Anchors,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const list = new CheckList();
  const nowMs = options.clock.now();
  expectChecks(list, source, options);
  await verifyPlainView(list, source);
  const signed = await verifySignature(list, source, anchors, options.source);
  const claims = signed && (await list.run('statement', () => readStatement(signed.bundle, nowMs)));
  if (signed === undefined || claims === undefined) return list.report();
  noteEvidence(list, claims);

  const commit = parseCommit(source.commit.raw);
  const sealed = { list, source, signer: signed.signer, claims, commit, nowMs };
  const spec = await verifyChange(sealed, options);
  const change = { ...sealed, spec };
  await verifyPatch(change);
  const revocation = await readRevocation(change, anchors);
  const renewed = await verifyRenewed(list, source, signed.bundle);
  const run: RunFacts = {
    ...change,
    later: [
      ...(revocation?.isGenuine ? [runFiles.revocation, runFiles.rollback] : []),
      ...(renewed === undefined ? [] : [runFiles.renewedBundle, runFiles.renewedProof]),
    ],
  };
  await verifyEvidence(run);
  await verifyWorkers(run);
  const statements = await verifyStatements(run);
  await verifySummaryDemands(list, options.summary ?? { levels: [] }, statements.summary);
  await verifyPeople(run, statements.decision, options);
  await verifyArtifacts(run, options);
  const { replay } = options;
  if (replay) await list.run('replay', () => verifyReplay(source, claims, replay));
  await verifyTypes(run, statements.types, options);
  const later = await verifyLogging(run, renewed ?? signed.bundle, renewed !== undefined, anchors, options);
  await verifyNotRevoked(list, revocation, later);
  return list.report();
}

function artifactIds(
  artifacts: VerifyOptions['artifacts'],
): readonly (readonly [id: string, sha256: string])[] {
  return [...new Set(artifacts)].map((sha256) => [`artifact:${sha256}`, sha256]);
}

function expectChecks(list: CheckList, source: EvidenceSource, options: VerifyOptions): void {
  list.expect('bundle', 'signature', 'statement', 'subject-commit', 'subject-tree', 'subject-patchset');
  list.expect('run', 'policy', 'spec', 'evidence', 'evidence-stored');
  list.expect(...treeChecks(source), ...companionChecks, ...logChecks);
  list.expect(...artifactIds(options.artifacts).map(([id]) => id));
  if (options.replay) list.expect('replay');
  if (options.policy) list.expect(policyDemandId);
  list.expect(...summaryChecks(options.summary ?? { levels: [] }), ...sourceChecks(options.source));
  list.expect(...(options.types ?? []).map((type) => `type:${type}`));
}

/** Where the repository replaces objects, plain git must show the objects that were verified. */
async function verifyPlainView(list: CheckList, { replaced }: EvidenceSource): Promise<void> {
  if (replaced === undefined) return;
  list.expect('plain-git');
  await list.run('plain-git', () => {
    if (replaced.length > 0) throw refuted('replaced', { found: replaced });
  });
}

/** Reads the bundle and verifies its signature and the source that its certificate names. */
async function verifySignature(
  list: CheckList,
  source: EvidenceSource,
  anchors: Anchors,
  demands: SourceDemands | undefined,
): Promise<{ readonly bundle: Bundle; readonly signer: RunSigner } | undefined> {
  const seal = await list.run('bundle', async () => {
    const bytes = await source.readRun(runFiles.bundle);
    if (bytes === undefined) throw await missingBundle(source);
    list.grounds.digests.set(runFiles.bundle, sha256Hex(bytes));
    return readSeal(bytes);
  });
  if (seal === undefined) return undefined;
  const signer = await list.run(
    'signature',
    () => verifySigner(seal, anchors),
    ({ ground }) => ({ ...ground }),
  );
  if (signer === undefined) return undefined;
  list.grounds.signer = signer.ground;
  const aboutSource = sourceChecks(demands, signer.certificate);
  list.expect(...aboutSource);
  // The workflow that sealed a change may belong to another repository, so the statement is not compared.
  await verifySource(list, aboutSource, demands, signer.source);
  return { bundle: seal.bundle, signer };
}

/** Lists the statements that are there, where the one that they all rest on is not. */
async function missingBundle(source: EvidenceSource): Promise<Error> {
  const others = (await source.listRun()).filter((path) => path.endsWith('.sigstore.json'));
  return unavailable('missing', {
    path: runFiles.bundle,
    ...(others.length === 0 ? {} : { found: others.slice(0, 20) }),
  });
}

function readStatement({ envelope: { payloadType, payload } }: Bundle, nowMs: number): ProvenanceClaims {
  if (payloadType !== inTotoPayloadType)
    throw refuted('wrong-type', { member: 'payloadType', expected: inTotoPayloadType, found: payloadType });
  const claims = readProvenance(payload);
  requirePast({ startedOn: claims.startedAtMs, finishedOn: claims.finishedAtMs }, nowMs);
  return claims;
}

function noteEvidence(
  { grounds }: CheckList,
  { plugins, models, patchset, byproducts }: ProvenanceClaims,
): void {
  grounds.plugins = plugins;
  grounds.models = models;
  grounds.digests.set(patchFile, patchset);
  for (const { name, sha256 } of byproducts) grounds.digests.set(name, sha256);
}

/** Verifies that commit, tree, run id, policy and spec are those of the statement. */
async function verifyChange(
  { list, source, claims, commit }: Omit<RunFacts, 'spec' | 'later'>,
  { runId, policy: demanded, specDigest }: VerifyOptions,
): Promise<VerifiedSpec | undefined> {
  await list.run('subject-commit', () => verifyCommit(source, claims, commit));
  await list.run('subject-tree', () => {
    if (commit?.tree !== claims.tree)
      throw refuted('wrong-subject', { expected: claims.tree, found: commit?.tree ?? 'none' });
  });
  await verifyTree(list, source, claims.tree);
  await list.run('run', () => verifyRunId(claims, commit, runId));
  await list.run(
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
  if (demanded) await list.run(policyDemandId, () => demandPolicy(demanded, claims));
  return list.run('spec', () => {
    if (commit === undefined) throw refuted('malformed', { found: 'not a commit object' });
    return verifySpec(source, commit, claims, specDigest);
  });
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
  throw refuted('wrong-subject', {
    expected,
    found,
    ...(isRewritten ? { rewritten_from: expected, run_id: claims.runId } : {}),
  });
}

function verifyRunId(claims: ProvenanceClaims, commit: GitCommit | undefined, named = claims.runId): void {
  const found = commit?.trailer('Run-Id') ?? [];
  if (found.length !== 1 || found[0] !== claims.runId || named !== claims.runId)
    throw refuted('wrong-run', { expected: named, found });
}

async function verifyPatch(run: Omit<RunFacts, 'later'>): Promise<void> {
  await verifyFile(run, 'subject-patchset', patchFile, run.claims.patchset);
}

/**
 * Verifies the bundle with a log entry that was made again (`docs/reference/ledger.md`, Machines without state): it
 * holds the same envelope by the same signer. No signature covers it; its log entry is verified like that of the
 * first bundle.
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
  return list.run('bundle-renewed', () => {
    const renewed = readSeal(bytes).bundle;
    const unlogged = [renewed, bundle].map((one) => formatBundle({ ...one, proof: undefined }));
    if (unlogged[0] !== unlogged[1])
      throw refuted('mismatch', { found: 'another envelope than that of the bundle' });
    return renewed;
  });
}

async function verifyPeople(
  run: RunFacts,
  decision: DecisionClaims | undefined,
  { allowedSigners, requireApprovals = false }: VerifyOptions,
): Promise<void> {
  const carried = await verifyEquivalence(run, decision);
  await verifyApprovals(run, decision, { allowedSigners, carried, isDemanded: requireApprovals });
  if (requireApprovals) run.list.demand('approvals');
}

async function verifyArtifacts({ list, claims }: RunFacts, { artifacts }: VerifyOptions): Promise<void> {
  const known = [claims.patchset, ...claims.byproducts.map(({ sha256 }) => sha256)];
  const names = [patchFile, ...claims.byproducts.map(({ name }) => name)].slice(0, 20);
  for (const [id, sha256] of artifactIds(artifacts))
    await list.run(id, () => {
      if (!known.includes(sha256)) throw refuted('wrong-subject', { expected: sha256, found: names });
    });
}

/** Verified approvals are statements of the run too. */
async function verifyTypes(
  { list, source }: RunFacts,
  verified: readonly string[],
  { types }: VerifyOptions,
): Promise<void> {
  const hasApprovals = (await source.listRun()).some((path) => approvalPath.test(path));
  const found = new Set([slsaProvenanceType, ...verified]);
  if (hasApprovals && list.statusOf('approvals') === 'passed') found.add(approvalType);
  if (list.statusOf(equivalenceCheck) === 'passed') found.add(equivalenceType);
  for (const type of new Set(types))
    await list.run(`type:${type}`, () => {
      if (!found.has(type)) throw refuted('wrong-type', { expected: type, found: [...found] });
    });
}

async function verifyLogging(
  { list, source, signer, claims, spec, nowMs }: RunFacts,
  bundle: Bundle,
  isRenewed: boolean,
  anchors: Anchors,
  { memory, logged = 'as-contract' }: VerifyOptions,
): Promise<LaterEntries | undefined> {
  const proof = await source.readRun(isRenewed ? runFiles.renewedProof : runFiles.proof);
  if (isRenewed && proof) list.grounds.digests.set(runFiles.renewedProof, sha256Hex(proof));
  const isWaived = logged === 'as-contract' && spec?.demands.logged === false;
  if (isWaived && bundle.proof === undefined && proof === undefined) {
    for (const id of logChecks) list.waive(id, 'not-required');
    return undefined;
  }
  const inclusion = await verifyLog(list, bundle, proof, signer, { anchors, vouched: claims.ledger, nowMs });
  if (inclusion === undefined) return undefined;
  list.grounds.log = describeInclusion(inclusion);
  const revokes = revocationMatcher(anchors, claims);
  return verifyHistory(list, inclusion, source, { memory, demanded: logged === 'continued', revokes });
}

interface Revocation {
  /** A trusted signer signed that the provenance of this run is void. */
  readonly isGenuine: boolean;
}

/** Reads the stored revocation of the run; `undefined` where there is none. */
async function readRevocation(
  { source, claims }: Pick<RunFacts, 'source' | 'claims'>,
  anchors: Anchors,
): Promise<Revocation | undefined> {
  const bytes = await source.readRun(runFiles.revocation);
  if (bytes === undefined) return undefined;
  try {
    const seal = readSeal(bytes);
    const { envelope } = seal.bundle;
    await verifySigner(seal, anchors);
    if (envelope.payloadType !== inTotoPayloadType) return { isGenuine: false };
    const statement = parseJsonObject(envelope.payload, 1024 * 1024);
    const predicate = expectObject(statement.predicate, '/predicate');
    return { isGenuine: statement.predicateType === revocationType && predicate.run_id === claims.runId };
  } catch (fault) {
    const codes = ['ATTESTATION_MALFORMED', 'VERIFY_REFUTED', 'VERIFY_NOTHING'] as const;
    if (codes.some((code) => isWritError(fault, code))) return { isGenuine: false };
    throw fault;
  }
}

/** Recognises the log entry of this run's revocation by a trusted key. Other entries may be about anything. */
function revocationMatcher(anchors: Anchors, claims: ProvenanceClaims): (body: Uint8Array) => boolean {
  const subject = subjectsOf({ ...claims, patchDigest: claims.patchset });
  const payload = Buffer.from(canonicalize(buildRevocation(subject, claims.runId)));
  const signed = preAuthEncoding(inTotoPayloadType, payload);
  return (body) => recordsSignature(body, signed, (keyId) => findSigner(anchors, keyId)?.key);
}

async function verifyNotRevoked(
  list: CheckList,
  revocation: Revocation | undefined,
  later: LaterEntries | undefined,
): Promise<void> {
  if (revocation === undefined && later === undefined) return;
  list.expect('not-revoked');
  await list.run('not-revoked', () => {
    if (later?.revokedAt !== undefined) throw refuted('revoked', { index: later.revokedAt });
    if (revocation === undefined) return;
    throw refuted(revocation.isGenuine ? 'revoked' : 'unlisted', { path: runFiles.revocation });
  });
}
