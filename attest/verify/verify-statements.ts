import { sha256Hex } from '../../core/base/digest.ts';
import { stageNames } from '../../core/contract/stage.ts';
import { expectArray, expectObject, expectText, type JsonObject } from '../expect-json.ts';
import { decisionType } from '../statement/decision-statement.ts';
import { manifestType } from '../statement/evidence-manifest.ts';
import { testResultType } from '../statement/test-result.ts';
import { attestationUri, isAttestation, levels, summaryType } from '../statement/verification-summary.ts';
import type { CheckList } from './check-list.ts';
import { type EvidenceSource, runFiles, testResultPath } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { readCompanion } from './read-statement.ts';
import { refuted, unavailable } from './report.ts';
import type { RunSigner } from './run-signer.ts';
import type { VerifiedSpec } from './verify-spec.ts';

/** Checks that every sealed run has beside those of its provenance. */
export const companionChecks = ['manifest', 'manifest-complete', 'decision', 'summary'] as const;

const sha256 = /^[0-9a-f]{64}$/;
const testResultForm = new RegExp(
  `^${testResultPath('.+').replaceAll('.sig', '\\.sig').replaceAll('.json', '\\.json')}$`,
);

/** What the statement about the decision says. */
export interface DecisionClaims {
  readonly baseCommit: string | null;
  /** Persons whose approval counted. */
  readonly approvers: readonly string[];
  readonly approvals: readonly {
    readonly principal: string;
    /** SHA-256 of the signed statement. */
    readonly digest: string;
    /** The Scheduler's own process signed it. */
    readonly inProcess: boolean;
  }[];
}

/**
 * The statements beside the provenance (`docs/decisions/0006-evidence-set.md`): the manifest lists exactly what is stored, the decision says that every
 * check which the contract lists ran, the summary names exactly the attestations that are there. Made after the seal, and judged elsewhere: what revokes it.
 */
export async function verifyStatements(
  list: CheckList,
  source: EvidenceSource,
  signer: RunSigner,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  revoked: boolean,
): Promise<DecisionClaims | undefined> {
  const read = async (path: string, type: string): Promise<JsonObject> => {
    const bytes = await source.readRun(path);
    if (bytes === undefined) throw unavailable('missing', { path });
    return readCompanion(bytes, type, signer, claims);
  };
  const later: readonly string[] = [
    runFiles.manifest,
    ...(revoked ? [runFiles.revocation, runFiles.rollback] : []),
  ];
  const stored = (await source.listRun()).filter((path) => !later.includes(path));
  const results = stored.filter((path) => testResultForm.test(path));
  list.expect(...results.map((path) => `test-result:${path}`));

  const manifest = await list.judge('manifest', async () => {
    const predicate = await read(runFiles.manifest, manifestType);
    list.grounds.digests.set(runFiles.manifest, sha256Hex((await source.readRun(runFiles.manifest)) ?? ''));
    requireRun(predicate.runId, claims);
    return readFiles(expectArray(predicate.files, '/files', 100_000));
  });
  for (const [path, digest] of manifest ?? []) list.grounds.digests.set(path, digest);
  if (manifest) await list.judge('manifest-complete', () => requireFiles(source, stored, manifest));
  for (const path of results) {
    await list.judge(`test-result:${path}`, async () => {
      const { result } = await read(path, testResultType);
      expectText(result, '/predicate/result', /^(?:PASSED|WARNED|FAILED)$/);
    });
  }
  const decision = await list.judge('decision', async () => {
    const predicate = await read(runFiles.decision, decisionType);
    requireRun(predicate.runId, claims);
    return readDecision(predicate, source, spec);
  });
  await list.judge('summary', async () => {
    const predicate = await read(runFiles.summary, summaryType);
    const inputs = stored.filter(
      (path) => isAttestation(path) && path !== runFiles.summary && path !== runFiles.revocation,
    );
    await requireSummary(predicate, source, claims, spec, inputs, decision);
  });
  return decision;
}

function requireRun(found: unknown, { runId }: ProvenanceClaims): void {
  if (found !== runId) throw refuted('wrong-run', { expected: runId, found: String(found).slice(0, 200) });
}

function readFiles(values: readonly unknown[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [n, value] of values.entries()) {
    const { name, digest } = expectObject(value, `/files/${n}`);
    const path = expectText(name, `/files/${n}/name`);
    if (files.has(path)) throw refuted('malformed', { found: `\`${path}\` is listed twice` });
    files.set(path, readSha256(digest, `/files/${n}/digest`));
  }
  return files;
}

function readSha256(digest: unknown, at: string): string {
  return expectText(expectObject(digest, at).sha256, `${at}/sha256`, sha256);
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

async function readDecision(
  predicate: JsonObject,
  source: EvidenceSource,
  spec: VerifiedSpec | undefined,
): Promise<DecisionClaims> {
  if (predicate.decision !== 'commit')
    throw refuted('policy-deny', { expected: 'commit', found: String(predicate.decision).slice(0, 200) });
  if (spec) requireEqual('intentspec', spec.digest, readDigest(predicate, 'intentspec'));
  for (const [member, path] of [
    ['record', 'decision-record.json'],
    ['input', 'decision-input.json'],
    ['gateReport', 'gate-report.json'],
  ] as const) {
    const bytes = await source.readRun(path);
    if (bytes === undefined) throw unavailable('missing', { path });
    requireEqual(path, sha256Hex(bytes), readDigest(predicate, member));
  }
  requireStages(expectArray(predicate.stages, '/predicate/stages', 100), spec);
  const approvals = expectArray(predicate.approvals, '/predicate/approvals', 1000).map((approval, n) => {
    const at = `/predicate/approvals/${n}`;
    const { principal, digest, inProcess = false } = expectObject(approval, at);
    if (typeof inProcess !== 'boolean')
      throw refuted('malformed', { member: `${at}/inProcess`, expected: 'true or false' });
    return {
      principal: expectText(principal, `${at}/principal`),
      digest: readSha256(digest, `${at}/digest`),
      inProcess,
    };
  });
  const approvers = approvals.map(({ principal }) => principal);
  const needed = spec?.demands.approvers ?? 0;
  if (new Set(approvers).size < needed) throw refuted('policy-deny', { expected: needed, found: approvers });
  return {
    approvers,
    approvals,
    baseCommit:
      predicate.baseCommit === null
        ? null
        : expectText(predicate.baseCommit, '/predicate/baseCommit', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
  };
}

function readDigest(predicate: JsonObject, member: string): string {
  const { digest } = expectObject(predicate[member], `/predicate/${member}`);
  return readSha256(digest, `/predicate/${member}/digest`);
}

/** Every check that had to run ran, as many as the contract lists at least; one ran at all. */
function requireStages(values: readonly unknown[], spec: VerifiedSpec | undefined): void {
  const stages = values.map((value, n) => {
    const { stage, status, expected, ran } = expectObject(value, `/predicate/stages/${n}`);
    return {
      stage: expectText(stage, `/predicate/stages/${n}/stage`),
      status: expectText(status, `/predicate/stages/${n}/status`),
      // What is no number counts as none: text, `null` and `true` are not 1 or 0.
      expected: typeof expected === 'number' ? expected : Number.NaN,
      ran: typeof ran === 'number' ? ran : Number.NaN,
    };
  });
  for (const { stage, status, expected, ran } of stages) {
    const isWhole = Number.isSafeInteger(expected) && expected >= 0 && ran === expected;
    if (!isWhole || status !== (expected === 0 ? 'skipped' : 'passed'))
      throw refuted('policy-deny', { stage, status, expected: String(expected), found: String(ran) });
  }
  for (const stage of stageNames) {
    const same = stages.filter((one) => one.stage === stage);
    const listed = spec?.demands.checks[stage] ?? 0;
    if (same.length !== 1 || (same[0]?.expected ?? 0) < listed)
      throw refuted('policy-deny', { stage, expected: listed, found: same[0]?.expected ?? 'no such stage' });
  }
  if (!stages.some(({ ran }) => ran > 0)) throw refuted('policy-deny', { found: 'no check ran' });
}

async function requireSummary(
  predicate: JsonObject,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  inputs: readonly string[],
  decision: DecisionClaims | undefined,
): Promise<void> {
  if (predicate.verificationResult !== 'PASSED')
    throw refuted('policy-deny', {
      expected: 'PASSED',
      found: String(predicate.verificationResult).slice(0, 200),
    });
  if (spec) requireEqual('policy', spec.digest, readDigest(predicate, 'policy'));
  const inputAttestations = expectArray(predicate.inputAttestations, '/predicate/inputAttestations', 10_000);
  const named = new Map(
    inputAttestations.map((value, n) => {
      const at = `/predicate/inputAttestations/${n}`;
      const { uri, digest } = expectObject(value, at);
      return [expectText(uri, `${at}/uri`), readSha256(digest, `${at}/digest`)] as const;
    }),
  );
  if (named.size < inputAttestations.length)
    throw refuted('malformed', { found: 'an attestation is named twice' });
  for (const path of inputs) {
    const uri = attestationUri(claims.runId, path);
    const bytes = await source.readRun(path);
    requireEqual(path, bytes === undefined ? 'missing' : sha256Hex(bytes), named.get(uri) ?? 'not named');
    named.delete(uri);
  }
  if (named.size > 0) throw unavailable('missing', { found: [...named.keys()].slice(0, 20) });
  const claimed = expectArray(predicate.verifiedLevels, '/predicate/verifiedLevels', 100);
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
