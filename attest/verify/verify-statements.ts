import { sha256Hex } from '../../core/base/digest.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { expectText, type JsonObject } from '../encoding/expect-json.ts';
import { decisionType } from '../statement/decision-statement.ts';
import { manifestType } from '../statement/evidence-manifest.ts';
import { outcomeOf, testResultType } from '../statement/test-result.ts';
import {
  attestationUri,
  isAttestation,
  levels,
  policyUri,
  summaryType,
  verifierId,
} from '../statement/verification-summary.ts';
import type { CheckList } from './check-list.ts';
import { type EvidenceSource, runFiles, testResultPath } from './evidence-source.ts';
import { type DecisionClaims, readDecision } from './predicates/read-decision.ts';
import { readManifest } from './predicates/read-manifest.ts';
import { readSummary, type SummaryClaims } from './predicates/read-summary.ts';
import { readTestResult, type TestResultClaims } from './predicates/read-test-result.ts';
import { requirePast } from './predicates/require-past.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { readCompanion } from './read-statement.ts';
import { refuted, unavailable } from './report.ts';
import type { RunSigner } from './run-signer.ts';
import { readStoredReport } from './shown-verdict.ts';
import type { VerifiedSpec } from './verify-spec.ts';

/** Checks that every sealed run has beside those of its provenance. */
export const companionChecks = ['manifest', 'manifest-complete', 'decision', 'summary'] as const;

const testResultForm = new RegExp(
  `^${testResultPath('.+').replaceAll('.sig', '\\.sig').replaceAll('.json', '\\.json')}$`,
);

/** What the statements beside the provenance were found to say. */
export interface StatementClaims {
  readonly decision?: DecisionClaims;
  readonly summary?: SummaryClaims;
  /** Predicate types of those that hold. */
  readonly types: readonly string[];
}

/**
 * The statements beside the provenance (`docs/decisions/0006-evidence-set.md`): the manifest lists exactly what is
 * stored, the decision says that every check which the contract lists ran, the summary names exactly the attestations
 * that are there. `later`: files made after the seal, which are judged elsewhere.
 */
export async function verifyStatements(
  list: CheckList,
  source: EvidenceSource,
  signer: RunSigner,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  later: readonly string[],
  nowMs: number,
): Promise<StatementClaims> {
  const read = async (path: string, type: string): Promise<JsonObject> => {
    const bytes = await source.readRun(path);
    if (bytes === undefined) throw unavailable('missing', { path });
    return readCompanion(bytes, type, signer, claims);
  };
  const stored = (await source.listRun()).filter(
    (path) => path !== runFiles.manifest && !later.includes(path),
  );
  const results = stored.filter((path) => testResultForm.test(path));
  list.expect(...results.map((path) => `test-result:${path}`));

  const manifest = await list.judge('manifest', async () => {
    const { runId, files } = readManifest(await read(runFiles.manifest, manifestType));
    list.grounds.digests.set(runFiles.manifest, sha256Hex((await source.readRun(runFiles.manifest)) ?? ''));
    requireRun(runId, claims);
    return files;
  });
  for (const [path, digest] of manifest ?? []) list.grounds.digests.set(path, digest);
  if (manifest) await list.judge('manifest-complete', () => requireFiles(source, stored, manifest));
  const tested: string[] = [];
  for (const path of results) {
    const result = await list.judge(`test-result:${path}`, async () => {
      const found = readTestResult(await read(path, testResultType));
      await requireTestResult(source, path, found);
      return found;
    });
    if (result !== undefined) tested.push(testResultType);
  }
  const decision = await list.judge('decision', async () => {
    const found = readDecision(await read(runFiles.decision, decisionType));
    requireRun(found.runId, claims);
    await requireDecision(found, source, claims, spec);
    return found;
  });
  const summary = await list.judge('summary', async () => {
    const found = readSummary(await read(runFiles.summary, summaryType));
    requirePast({ timeVerified: found.verifiedAtMs }, nowMs);
    const inputs = stored.filter(
      (path) => isAttestation(path) && path !== runFiles.summary && path !== runFiles.revocation,
    );
    await requireSummary(found, source, claims, spec, inputs, decision);
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
    const bytes = await source.readRun(path);
    if (bytes === undefined) throw unavailable('missing', { path });
    const found = sha256Hex(bytes);
    if (found !== digest) throw refuted('mismatch', { path, expected: digest, found });
  }
}

async function requireDecision(
  { digests, baseCommit, expected, approvers }: DecisionClaims,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
): Promise<void> {
  if (spec) requireEqual('intentspec', spec.digest, digests.intentspec);
  requireEqual('baseCommit', claims.base ?? 'none', baseCommit ?? 'none');
  for (const [path, digest] of [
    ['decision-record.json', digests.record],
    ['decision-input.json', digests.input],
    ['gate-report.json', digests.gateReport],
  ] as const) {
    const bytes = await source.readRun(path);
    if (bytes === undefined) throw unavailable('missing', { path });
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

/** Ours, by our gates, about this run's repository and contract, from every attestation that is there and no other. */
async function requireSummary(
  summary: SummaryClaims,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  inputs: readonly string[],
  decision: DecisionClaims | undefined,
): Promise<void> {
  requireEqual('verifier', verifierId, summary.verifierId);
  if (claims.repository) requireEqual('resourceUri', claims.repository, summary.resourceUri);
  const { resourceUri } = summary;
  // A path says nothing to a stranger, and the wrong thing where it happens to exist.
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

function requireEqual(where: string, expected: string, found: string): void {
  if (expected !== found) throw refuted('mismatch', { where, expected, found });
}

/**
 * A test result of a run that went through says what the gate report says of that very check: the same result, the same
 * failed tests (`mismatch`); and FAILED only of one that is not required (`policy-deny`).
 */
async function requireTestResult(
  source: EvidenceSource,
  path: string,
  { result, failedTests }: TestResultClaims,
): Promise<void> {
  const { stages } = await readStoredReport(source, 'gate-report.json');
  const [check, ...more] = stages
    .flatMap((stage) => stage.checks)
    .filter(({ id, tests }) => tests !== undefined && testResultPath(encodeId(id)) === path);
  if (check === undefined || more.length > 0)
    throw refuted('policy-deny', {
      expected: 'one test suite of that name in the gate report',
      found: check ? 'several' : 'none',
    });
  const told = outcomeOf(check);
  if (told.result !== result)
    throw refuted('mismatch', { where: `gate report: ${check.id}`, expected: told.result, found: result });
  if (told.failed.join('\n') !== failedTests.join('\n'))
    throw refuted('mismatch', {
      where: `gate report: ${check.id}`,
      expected: told.failed.slice(0, 20),
      found: failedTests.slice(0, 20),
    });
  if (result === 'FAILED' && check.required)
    throw refuted('policy-deny', {
      member: 'result',
      expected: 'FAILED only of a check that is not required',
      found: `${check.id}: failed, required`,
    });
}
