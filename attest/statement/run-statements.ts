/* Builds the statements of a run: its provenance, its evidence, its decision. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import type { CheckRecord } from '../../core/interfaces/stage.ts';
import { modelWorkFault } from '../../store/record/model-work.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import {
  type DigestSet,
  nonsense,
  type ResourceDescriptor,
  requireForm,
  type SealedChange,
  type Statement,
  sha256Form,
  statementAbout,
  statementType,
  toDescriptor,
} from './statement.ts';

/** `docs/schemas/decision.v1.json` */
export const decisionType = 'urn:writ:predicate:decision:v1';
/** `docs/schemas/approval-equivalence.v1.json`, `docs/decisions/0021-carried-approvals.md` */
export const equivalenceType = 'urn:writ:predicate:approval-equivalence:v1';
/** in-toto test-result 0.1 */
export const testResultType = 'https://in-toto.io/attestation/test-result/v0.1';
/** SLSA Verification Summary Attestation 1.2 */
export const summaryType = 'https://slsa.dev/verification_summary/v1';
/** `docs/schemas/evidence-manifest.v1.json` */
export const manifestType = 'urn:writ:predicate:evidence-manifest:v1';
export const revocationType = 'urn:writ:predicate:revocation:v1';
export const waitingRunType = 'urn:writ:predicate:waiting-run:v1';

type Approval = AttestRequest['approvals'][number];

/** The decision to commit: what it was decided from, the checks of every stage, and the approvals that counted. */
export function buildDecision(request: AttestRequest) {
  const stored = (name: string): { readonly digest: DigestSet } => {
    const found = request.byproducts.find((one) => one.name === name);
    if (!found) throw new WritError('INTERNAL', { message: `the record of the run has no \`${name}\`` });
    return { digest: found.digest };
  };
  return statementAbout(request, decisionType, {
    runId: request.runId,
    decision: 'commit',
    baseCommit: request.baseCommit ?? null,
    intentspec: sha256(request.specDigest),
    record: stored('decision-record.json'),
    input: stored('decision-input.json'),
    gateReport: stored('gate-report.json'),
    stages: request.stages.map(({ stage, status, expected, ran }) => ({ stage, status, expected, ran })),
    approvals: request.approvals.filter(isCounted).map(({ principal, keyId, digest, inProcess }) => ({
      principal,
      keyId,
      digest: { sha256: digest },
      // The Scheduler's own process signed, which the configuration at the policy commit allows.
      ...(inProcess ? { inProcess } : {}),
    })),
  });
}

function isCounted({ status, decision }: Approval): boolean {
  return status === 'counts' && decision === 'approve';
}

function sha256(digest: string): { readonly digest: { readonly sha256: string } } {
  return { digest: { sha256: digest } };
}

/** An earlier candidate, and the digests of its approvals that count. */
export interface CarriedCandidate {
  readonly baseCommit: string;
  readonly tree: string;
  readonly verdict: string;
  readonly approvals: readonly string[];
}

/** States that approvals of earlier candidates count for the sealed one; `undefined` if none carries over. */
export function buildEquivalence(
  request: SealedChange & Pick<AttestRequest, 'runId' | 'baseCommit' | 'specDigest' | 'approvals'>,
): Statement | undefined {
  const carried = carriedIn(request);
  const [first] = carried;
  if (first === undefined) return undefined;
  return statementAbout(request, equivalenceType, {
    runId: request.runId,
    intentspec: sha256(request.specDigest),
    // The canonical patch is the same from each base to its tree.
    patchset: sha256(request.patchDigest),
    verdict: sha256(first.verdict),
    candidate: { baseCommit: request.baseCommit ?? '', tree: { gitTree: request.tree } },
    carried: carried.map(({ baseCommit, tree, approvals }) => ({
      baseCommit,
      tree: { gitTree: tree },
      approvals: approvals.map(sha256),
    })),
  });
}

/** The earlier candidates with counted approvals, each once. */
export function carriedIn({ approvals }: Pick<AttestRequest, 'approvals'>): readonly CarriedCandidate[] {
  const found = new Map<string, CarriedCandidate>();
  for (const approval of approvals) {
    const { earlier, digest } = approval;
    if (!isCounted(approval) || earlier === undefined) continue;
    const { baseCommit, candidateTree: tree, gateReportDigest: verdict } = earlier;
    const key = `${baseCommit} ${tree}`;
    const known = found.get(key)?.approvals ?? [];
    found.set(key, { baseCommit, tree, verdict, approvals: [...known, digest] });
  }
  return [...found.values()];
}

/** Whether a statement is sealed about the result of a check: tests ran, or the result is that of another run. */
export function hasTestResult({ tests, ranOn }: Pick<CheckRecord, 'tests' | 'ranOn'>): boolean {
  return tests !== undefined || reusedFile(ranOn) !== undefined;
}

/** The file of the record with the signed result that was reused. */
function reusedFile(ranOn: CheckRecord['ranOn']): string | undefined {
  return ranOn && 'action' in ranOn && ranOn.reused ? `workers/${ranOn.action}.json` : undefined;
}

/** One statement for each check that ran tests or whose result was reused, by the id of the check. */
export function buildTestResults(request: AttestRequest): ReadonlyMap<string, Statement> {
  const checks = request.stages.flatMap((stage) => stage.checks).filter(hasTestResult);
  return new Map(checks.map((check) => [check.id, buildTestResult(request, check)]));
}

/** `configuration` names the spec, the evidence of the check, and the signed result that was reused. */
function buildTestResult(request: AttestRequest, check: CheckRecord): Statement {
  const { result, failed } = outcomeOf(check);
  const evidence = request.byproducts.filter(
    ({ name }) =>
      /^evidence\/\d+-(.+)\.json$/.exec(name)?.[1] === encodeId(check.id) || name === reusedFile(check.ranOn),
  );
  return statementAbout(request, testResultType, {
    result,
    configuration: [
      { name: 'intentspec', ...sha256(request.specDigest) },
      ...evidence.map(({ name, digest }) => ({ name, digest })),
    ],
    ...(failed.length === 0 ? {} : { failedTests: failed }),
  });
}

/** Result and failed tests of a suite. An old failure that the spec tolerates is `WARNED`. */
export function outcomeOf(check: Pick<CheckRecord, 'status' | 'tolerated' | 'tests'>): {
  readonly result: 'PASSED' | 'WARNED' | 'FAILED';
  readonly failed: readonly string[];
} {
  const failed = (check.tests?.failedTests ?? []).map(({ name }) => name);
  if (check.status !== 'passed') return { result: check.tolerated ? 'WARNED' : 'FAILED', failed };
  return { result: failed.length > 0 ? 'WARNED' : 'PASSED', failed };
}

/** Names the gates of this product, whichever key signs. Consumers trust keys, never this name alone. */
export const verifierId = 'urn:writ:verifier:gates:v1';

/** All gates of the spec passed; at least two people who did not make the change signed for it themselves. */
export const levels = { gates: 'WRIT_GATES_PASSED', people: 'WRIT_TWO_PERSON_APPROVED' } as const;

/** True for a stored file that is an attestation by itself. */
export function isAttestation(path: string): boolean {
  return path.endsWith('.sigstore.json') || /^approvals\/\d+\.json$/.test(path);
}

/** Names a file of a run in a statement. */
export function attestationUri(runId: string, path: string): string {
  return `urn:writ:run:${runId}:${path}`;
}

/** The policy of a run is its spec. */
export function policyUri(specId: string): string {
  return `urn:writ:intentspec:${encodeURIComponent(specId)}`;
}

/** The verdict in the words of SLSA; `recorded` holds every attestation that led to it. */
export function buildSummary(request: AttestRequest, recorded: ReadonlyMap<string, Uint8Array>): Statement {
  const counted = request.approvals.filter((approval) => isCounted(approval) && !approval.inProcess);
  const people = new Set(counted.map(({ principal }) => principal));
  return statementAbout(request, summaryType, {
    verifier: { id: verifierId, version: { writ: request.schedulerVersion } },
    timeVerified: request.finishedOn,
    resourceUri: request.repositoryUri,
    policy: { uri: policyUri(request.spec.metadata.id), ...sha256(request.specDigest) },
    inputAttestations: [...recorded]
      .filter(([path]) => isAttestation(path))
      .map(([path, bytes]) => ({ uri: attestationUri(request.runId, path), ...sha256(sha256Hex(bytes)) })),
    verificationResult: 'PASSED',
    verifiedLevels: [levels.gates, ...(people.size >= 2 ? [levels.people] : [])],
    slsaVersion: '1.2',
  });
}

/** Lists every file of a run's tree but itself, in code point order; writ signs it last. */
export function buildManifest(request: AttestRequest, recorded: ReadonlyMap<string, Uint8Array>): Statement {
  return statementAbout(request, manifestType, {
    runId: request.runId,
    files: [...recorded]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, bytes]) => ({ name, ...sha256(sha256Hex(bytes)) })),
  });
}

/**
 * States that the provenance about the same change is void. It repeats facts of the provenance only: a log holds
 * digests, and a verifier that has the provenance computes them. Reason and time are in the run's Decision.Rollback.
 */
export function buildRevocation(subject: Statement['subject'], runId: string): Statement {
  return { _type: statementType, subject, predicateType: revocationType, predicate: { run_id: runId } };
}

/** Lists the journal and the gate report that a runner left for another to resume. Same files, same statement. */
export function buildWaitingRun(runId: string, files: ReadonlyMap<string, Uint8Array>): Statement {
  return {
    _type: statementType,
    subject: [...files].map(([name, bytes]) => ({ name, ...sha256(sha256Hex(bytes)) })),
    predicateType: waitingRunType,
    predicate: { run_id: runId },
  };
}

export const slsaProvenanceType = 'https://slsa.dev/provenance/v1';
export const buildType = 'urn:writ:build-type:sealed-change:v1';
/** Names the Scheduler of this product, whichever key signs. Verifiers trust keys, never this name alone. */
export const builderId = 'urn:writ:builder:scheduler:v1';

/** The facts of a provenance statement. Names of byproducts are the paths they are stored under. */
export interface ProvenanceInput extends Omit<AttestRequest, 'spec' | 'stages' | 'approvals'> {
  readonly specId: string;
  /** `provenance.bindings` of the spec. */
  readonly embedIntentSpecDigest: boolean;
  readonly embedEvidenceDigests: boolean;
  /** vkey of the log that the envelope will go to; `undefined` for mode `none`. */
  readonly ledger: string | undefined;
}

export type ProvenanceStatement = Statement<ReturnType<typeof predicateOf>>;

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/**
 * The statement about a sealed change; base commit, policy commit and spec become dependencies. An ill-formed digest,
 * time or name, or two byproducts of one name, is INTERNAL: writ never signs nonsense.
 */
export function buildProvenance(input: ProvenanceInput): ProvenanceStatement {
  requireForm('runId', input.runId, /^[!-~]{1,128}$/);
  requireForm('specId', input.specId, /^[^\p{Cc}]{1,512}$/u);
  requireForm('startedOn', input.startedOn, rfc3339);
  requireForm('finishedOn', input.finishedOn, rfc3339);
  requireForm('specDigest', input.specDigest, sha256Form);
  const fault = input.models === undefined ? undefined : modelWorkFault(input.models);
  if (fault !== undefined) throw nonsense('writ_model_work', fault);
  return statementAbout(input, slsaProvenanceType, predicateOf(input));
}

function predicateOf(input: ProvenanceInput) {
  const { runId, startedOn, finishedOn, policyRef, defaultRef, schedulerVersion, ledger, network, models } =
    input;
  return {
    buildDefinition: {
      buildType,
      externalParameters: {
        intentspec_id: input.specId,
        ...(input.embedIntentSpecDigest ? { intentspec_digest: input.specDigest } : {}),
      },
      internalParameters: {
        scheduler_version: schedulerVersion,
        writ_sandbox: input.sandbox,
        // The signer vouches for the log that the envelope goes to.
        ...(ledger === undefined ? {} : { writ_ledger: ledger }),
        ...(policyRef === undefined ? {} : { writ_policy_ref: policyRef }),
        ...(defaultRef === undefined ? {} : { writ_default_ref: defaultRef }),
        ...(network === undefined ? {} : { writ_network: network.map(toNetwork) }),
        ...(models === undefined ? {} : { writ_model_work: models }),
      },
      resolvedDependencies: dependenciesOf(input),
    },
    runDetails: {
      builder: {
        id: builderId,
        version: { writ: schedulerVersion },
        // The engine, by the digest of its files.
        builderDependencies: [toDescriptor(input.engine)],
      },
      metadata: { invocationId: runId, startedOn, finishedOn },
      byproducts: byproductsOf(input),
    },
  };
}

function byproductsOf(input: ProvenanceInput): readonly ResourceDescriptor[] {
  const byproducts = input.embedEvidenceDigests ? input.byproducts.map(toDescriptor) : [];
  const names = new Set<string>();
  for (const { name } of byproducts) {
    if (names.has(name)) throw nonsense('byproducts', `\`${name}\` twice`);
    names.add(name);
  }
  return byproducts;
}

function dependenciesOf(input: ProvenanceInput): readonly ResourceDescriptor[] {
  const at = (name: string, commit: string | undefined): AttestRequest['byproducts'] =>
    commit === undefined
      ? []
      : [{ name, uri: `${input.repositoryUri}@${commit}`, digest: { gitCommit: commit } }];
  const commits = [...at('base', input.baseCommit), ...at('policy', input.policyCommit)];
  const spec = input.embedIntentSpecDigest
    ? [{ name: 'intentspec', uri: 'urn:writ:intentspec', digest: { sha256: input.specDigest } }]
    : [];
  return [...commits, ...spec, ...input.resolvedDependencies].map(toDescriptor);
}

/** The network that was open to a check, why, and every connection that it made or was refused. */
function toNetwork({ stage, check, opened, uses }: NonNullable<AttestRequest['network']>[number]) {
  return {
    stage,
    check,
    opened: opened.map(({ hosts, reason }) => ({ hosts, reason })),
    connections: uses.map(({ host, port, via, outcome, why, address, reasons, ...counted }) => ({
      host,
      port,
      via,
      outcome,
      ...(why === undefined ? {} : { why }),
      ...(address === undefined ? {} : { address }),
      reasons,
      count: counted.connections,
      sent_bytes: counted.sentBytes,
      received_bytes: counted.receivedBytes,
    })),
  };
}
