/* Verifies the statements beside the provenance. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { verdictDifferences, verdictDigest, verdictOf } from '../../store/record/verdict.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { parseBundle } from '../bundle/bundle.ts';
import { inTotoPayloadType, verifyEnvelope } from '../encoding/dsse.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import {
  attestationUri,
  decisionType,
  hasTestResult,
  isAttestation,
  levels,
  manifestType,
  outcomeOf,
  policyUri,
  summaryType,
  testResultType,
  verifierId,
} from '../statement/run-statements.ts';
import { statementType } from '../statement/statement.ts';
import { type EvidenceSource, readRequired, runFiles, testResultPath } from './evidence-source.ts';
import { requirePast } from './predicates/members.ts';
import {
  type DecisionClaims,
  readDecision,
  readManifest,
  readTestResult,
  type TestResultClaims,
} from './predicates/run-statements.ts';
import { readSummary, type SummaryClaims } from './predicates/summary.ts';
import { type ProvenanceClaims, readSubjects, requireType } from './provenance-claims.ts';
import { refuted, requireEqual, unavailable } from './report.ts';
import type { RunFacts, RunSigner } from './sealed-run.ts';

/** Checks that every sealed run has beside those of its provenance. */
export const companionChecks = ['manifest', 'manifest-complete', 'decision', 'summary'] as const;

const testResultForm = new RegExp(
  `^${testResultPath('.+').replaceAll('.sig', '\\.sig').replaceAll('.json', '\\.json')}$`,
);

/** Claims of the statements beside the provenance. */
interface StatementClaims {
  readonly decision?: DecisionClaims;
  readonly summary?: SummaryClaims;
  /** Predicate types of those that hold. */
  readonly types: readonly string[];
}

/**
 * Verifies the statements beside the provenance (`docs/decisions/0006-evidence-set.md`): the manifest lists exactly the
 * stored files, the decision states that every check of the spec ran, and the summary names exactly the attestations of
 * the run.
 */
export async function verifyStatements(run: RunFacts): Promise<StatementClaims> {
  const { list, source, signer, claims, later, nowMs } = run;
  const read = async (path: string, type: string): Promise<JsonObject> => {
    const bytes = await readRequired(source, path);
    return readCompanion(bytes, type, signer, claims);
  };
  const stored = (await source.listRun()).filter(
    (path) => path !== runFiles.manifest && !later.includes(path),
  );
  const results = stored.filter((path) => testResultForm.test(path));
  list.expect(...results.map((path) => `test-result:${path}`));

  const manifest = await list.run('manifest', async () => {
    const { runId, files } = readManifest(await read(runFiles.manifest, manifestType));
    list.grounds.digests.set(runFiles.manifest, sha256Hex((await source.readRun(runFiles.manifest)) ?? ''));
    requireRun(runId, claims);
    return files;
  });
  for (const [path, digest] of manifest ?? []) list.grounds.digests.set(path, digest);
  if (manifest) await list.run('manifest-complete', () => requireFiles(source, stored, manifest));
  const tested: string[] = [];
  for (const path of results) {
    const result = await list.run(`test-result:${path}`, async () => {
      const found = readTestResult(await read(path, testResultType));
      await requireTestResult(source, path, found);
      return found;
    });
    if (result !== undefined) tested.push(testResultType);
  }
  const decision = await list.run('decision', async () => {
    const found = readDecision(await read(runFiles.decision, decisionType));
    requireRun(found.runId, claims);
    await requireDecision(found, run);
    return found;
  });
  const summary = await list.run('summary', async () => {
    const found = readSummary(await read(runFiles.summary, summaryType));
    requirePast({ timeVerified: found.verifiedAtMs }, nowMs);
    const inputs = stored.filter(
      (path) => isAttestation(path) && path !== runFiles.summary && path !== runFiles.revocation,
    );
    await requireSummary(found, run, inputs, decision);
    return found;
  });
  return {
    ...(decision && { decision }),
    ...(summary && { summary }),
    types: [
      ...(manifest ? [manifestType] : []),
      ...(decision ? [decisionType] : []),
      ...(summary ? [summaryType] : []),
      ...tested,
    ],
  };
}

function requireRun(found: unknown, { runId }: ProvenanceClaims): void {
  if (found !== runId) throw refuted('wrong-run', { expected: runId, found: String(found).slice(0, 200) });
}

async function requireFiles(
  source: EvidenceSource,
  stored: readonly string[],
  listed: ReadonlyMap<string, string>,
): Promise<void> {
  const unlisted = stored.filter((path) => !listed.has(path)).sort();
  if (unlisted.length > 0)
    throw refuted('unlisted', { found: unlisted.slice(0, 20), count: unlisted.length });
  for (const [path, digest] of listed) {
    const bytes = await readRequired(source, path);
    const found = sha256Hex(bytes);
    if (found !== digest) throw refuted('mismatch', { path, expected: digest, found });
  }
}

async function requireDecision(
  { digests, baseCommit, expected, approvers }: DecisionClaims,
  { source, claims, spec }: RunFacts,
): Promise<void> {
  if (spec) requireEqual('intentspec', spec.digest, digests.intentspec);
  requireEqual('baseCommit', claims.base ?? 'none', baseCommit ?? 'none');
  for (const [path, digest] of [
    ['decision-record.json', digests.record],
    ['decision-input.json', digests.input],
    ['gate-report.json', digests.gateReport],
  ] as const) {
    const bytes = await readRequired(source, path);
    requireEqual(path, sha256Hex(bytes), digest);
  }
  for (const stage of stageNames) {
    const listed = spec?.demands.checks[stage] ?? 0;
    const found = expected.get(stage) ?? 0;
    if (found < listed) throw refuted('policy-deny', { stage, expected: listed, found });
  }
  const needed = spec?.demands.approvers ?? 0;
  if (new Set(approvers).size < needed) throw refuted('policy-deny', { expected: needed, found: approvers });
}

/**
 * Requires writ's own summary by its gates, about this run's repository and spec, with exactly the attestations that
 * are present.
 */
async function requireSummary(
  summary: SummaryClaims,
  { source, claims, spec }: RunFacts,
  inputs: readonly string[],
  decision: DecisionClaims | undefined,
): Promise<void> {
  requireEqual('verifier', verifierId, summary.verifierId);
  if (claims.repository) requireEqual('resourceUri', claims.repository, summary.resourceUri);
  const { resourceUri } = summary;
  // A local path identifies no repository on another machine, and may name a wrong one there.
  if (!/^(?:git\+(?!file:)[a-z]+:\/\/|urn:writ:repository:)/i.test(resourceUri))
    throw refuted('malformed', {
      member: 'resourceUri',
      expected: 'the name of a repository',
      found: resourceUri,
    });
  if (spec?.demands.repository) requireEqual('resourceUri', spec.demands.repository, resourceUri);
  requireEqual('policy', policyUri(claims.specId), summary.policy.uri ?? 'none');
  if (spec)
    requireEqual('policy', spec.digest, expectText(summary.policy.digest.get('sha256'), '/policy/digest'));
  if (summary.verifiedAtMs === undefined || summary.verifiedAtMs < claims.finishedAtMs)
    throw refuted('malformed', {
      member: 'timeVerified',
      expected: 'a time that is not before the end of the run',
    });
  const named = new Map(summary.inputs.map(({ uri, digest }) => [uri ?? '', digest.get('sha256')]));
  if (named.size < summary.inputs.length)
    throw refuted('malformed', { found: 'an attestation is named twice' });
  for (const path of inputs) {
    const uri = attestationUri(claims.runId, path);
    const bytes = await source.readRun(path);
    requireEqual(path, bytes === undefined ? 'missing' : sha256Hex(bytes), named.get(uri) ?? 'not named');
    named.delete(uri);
  }
  if (named.size > 0) throw unavailable('missing', { found: [...named.keys()].slice(0, 20) });
  requireLevels(summary.levels, decision);
}

/** What the gates of this product may claim, as far as the decision bears it out. */
function requireLevels(claimed: readonly string[], decision: DecisionClaims | undefined): void {
  const known: readonly string[] = [levels.gates, levels.people];
  const unknown = claimed.filter((level) => !known.includes(level));
  if (unknown.length > 0) throw refuted('policy-deny', { expected: known, found: unknown });
  if (!claimed.includes(levels.gates))
    throw refuted('policy-deny', { expected: levels.gates, found: 'no such level' });
  if (!claimed.includes(levels.people)) return;
  // Who approved is unknown where the decision could not be read: no reason to call the summary wrong.
  if (decision === undefined) throw unavailable('not-run', { expected: 'the decision' });
  const themselves = decision.approvals.filter(({ inProcess }) => !inProcess);
  const people = new Set(themselves.map(({ principal }) => principal)).size;
  if (people < 2) throw refuted('policy-deny', { expected: 'two persons', found: people });
}

/**
 * Requires that a test result agrees with the gate report for the same check: same result, same failed tests
 * (`mismatch`). FAILED is allowed only for a check that is not required (`policy-deny`).
 */
async function requireTestResult(
  source: EvidenceSource,
  path: string,
  { result, failedTests }: TestResultClaims,
): Promise<void> {
  const { stages } = await readStoredReport(source, 'gate-report.json');
  const [check, ...more] = stages
    .flatMap((stage) => stage.checks)
    .filter((one) => hasTestResult(one) && testResultPath(encodeId(one.id)) === path);
  if (check === undefined || more.length > 0)
    throw refuted('policy-deny', {
      expected: 'one such check in the gate report',
      found: check ? 'several' : 'none',
    });
  const reported = outcomeOf(check);
  if (reported.result !== result)
    throw refuted('mismatch', {
      where: `gate report: ${check.id}`,
      expected: reported.result,
      found: result,
    });
  if (reported.failed.join('\n') !== failedTests.join('\n'))
    throw refuted('mismatch', {
      where: `gate report: ${check.id}`,
      expected: reported.failed.slice(0, 20),
      found: failedTests.slice(0, 20),
    });
  if (result === 'FAILED' && check.required)
    throw refuted('policy-deny', {
      member: 'result',
      expected: 'FAILED only of a check that is not required',
      found: `${check.id}: failed, required`,
    });
}

const maxPayloadBytes = 4 * 1024 * 1024;

/**
 * Reads the predicate of a statement beside the provenance: signed by the key and certificate of the provenance, of
 * that type, about the same subjects, in a bundle without a log entry. `untrusted-signer`, `bad-signature`,
 * `wrong-type`, `wrong-subject`, or ATTESTATION_MALFORMED.
 */
export function readCompanion(
  bytes: Uint8Array,
  predicateType: string,
  signer: RunSigner,
  claims: ProvenanceClaims,
): JsonObject {
  const { envelope, proof, certificate } = parseBundle(bytes);
  if (envelope.keyId !== signer.keyId)
    throw unavailable('untrusted-signer', { key_id: envelope.keyId, expected: signer.keyId });
  const isSame = signer.certificate?.equals(certificate ?? Buffer.alloc(0)) ?? certificate === undefined;
  if (!isSame)
    throw unavailable('untrusted-signer', {
      expected: signer.certificate ? 'the certificate of the provenance' : 'a key without certificate',
      found: certificate ? 'another certificate' : 'no certificate',
    });
  const payload = verifyEnvelope(envelope, signer.key);
  if (proof !== undefined) throw refuted('malformed', { found: 'a log entry where none belongs' });
  requireType('payloadType', envelope.payloadType, inTotoPayloadType);
  const statement = parseJsonObject(payload, maxPayloadBytes);
  requireType('_type', statement._type, statementType);
  requireType('predicateType', statement.predicateType, predicateType);
  const subjects = readSubjects(expectArray(statement.subject, '/subject', 100));
  for (const name of ['commit', 'tree', 'patchset'] as const) {
    if (subjects[name] !== claims[name])
      throw refuted('wrong-subject', { subject: name, expected: claims[name], found: subjects[name] });
  }
  return expectObject(statement.predicate, '/predicate');
}

/** What people were shown, what the gates came to in the end, and the verdict that an approval has to be about. */
export interface ShownVerdict {
  readonly shown: GateReport;
  readonly final: GateReport;
  /** SHA-256 of the shown verdict. */
  readonly verdict: string;
}

/**
 * Computes the verdict that people signed from the report that they were shown. Requires that the final report has
 * the same verdict, except for checks that waited for people and checks after that (`docs/reference/approval.md`,
 * The verdict). `policy-deny` lists the differences.
 */
export async function readShown(source: EvidenceSource): Promise<ShownVerdict> {
  const shown = await readStoredReport(source, 'approvals/gate-report.json');
  const final = await readStoredReport(source, 'gate-report.json');
  const differences = verdictDifferences(verdictOf(shown), verdictOf(final), { goesOn: true });
  if (differences.length > 0)
    throw refuted('policy-deny', { expected: 'the verdict that was approved', found: differences });
  return { shown, final, verdict: verdictDigest(shown) };
}

/** A gate report of the run. `missing`, `malformed`. */
async function readStoredReport(source: EvidenceSource, path: string): Promise<GateReport> {
  const bytes = await readRequired(source, path);
  try {
    return readGateReport(bytes);
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) throw refuted('malformed', { path, found: fault.message });
    throw fault;
  }
}
