import { createHash, createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSlsaAttestor } from '../../../attest/attestor/attesting.ts';
import { formatBundle, parseBundle } from '../../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../../attest/encoding/dsse.ts';
import { openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { formatTlogProof } from '../../../attest/log/checkpoint.ts';
import { openUserLedger, userCheckpointMemory } from '../../../attest/log/internal-ledger-source.ts';
import { buildLogEntry } from '../../../attest/log/log-entry.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { readFrom } from '../../../attest/log/tiles.ts';
import { isAttestation, type ProvenanceStatement } from '../../../attest/statement/run-statements.ts';
import { loadAnchors } from '../../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../../attest/verify/evidence-source.ts';
import type { VerifyReport } from '../../../attest/verify/report.ts';
import { type VerifyOptions, verifyRun } from '../../../attest/verify/verify-run.ts';
import { canonicalDigest, canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import type { ApprovalSubject, ApprovalVerdict } from '../../../core/interfaces/approval.ts';
import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { AttestRequest, SealedFile, Signer, TransparencyLog } from '../../../core/interfaces/sealing.ts';
import type { CheckRecord, StageRecord } from '../../../core/interfaces/stage.ts';
import type { GateReport } from '../../../store/record/gate-report.ts';
import { verdictDigest } from '../../../store/record/verdict.ts';

type Json = Record<string, unknown>;
export type Files = Map<string, Buffer>;

/** One person's machine: a HOME and a repository's common directory. */
export interface Machine {
  readonly root: string;
  readonly home: string;
  readonly commonDir: string;
}

const roots: string[] = [];

export function makeMachine(): Machine {
  const root = mkdtempSync(join(tmpdir(), 'writ-verify-'));
  roots.push(root);
  return { root, home: join(root, 'home'), commonDir: join(root, 'git') };
}

export function removeMachines(): void {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
}

/** A run as it lies in the repository: attack tests change the copies that they get. */
export interface SealedRun {
  readonly commit: { id: string; raw: Buffer };
  readonly run: Files;
  readonly content: Files;
}

export interface SealChanges {
  /** Where it is logged instead of the machine's own ledger. */
  readonly log?: (signer: Signer) => TransparencyLog;
  /** Who signs instead of the machine's own key. */
  readonly signer?: Signer;
  readonly provenance?: Json;
  readonly artifactDays?: number;
  /** More files of evidence, of 1 KiB each. */
  readonly moreEvidence?: number;
  /** What the input of the decision says besides. */
  readonly decisionInput?: Readonly<Record<string, unknown>>;
  readonly request?: (request: AttestRequest) => AttestRequest;
  readonly runId?: string;
  readonly hash?: 'sha1' | 'sha256';
  /** Checks of the contract's first stage; one test suite unless told. */
  readonly fastChecks?: readonly Json[];
  /** `risk.humanInLoop` of the contract. */
  readonly humanInLoop?: Json;
  /** Signed approvals of the run, and how the Scheduler judged them. */
  readonly approvals?: (subject: ApprovalSubject) => {
    readonly documents: readonly Uint8Array[];
    readonly verdicts: readonly ApprovalVerdict[];
    readonly authors?: readonly string[];
    /** What people were shown, where it is not what came out. */
    readonly shown?: GateReport;
    /** When the approvals came, by digest of the file. */
    readonly received?: Readonly<Record<string, string>>;
  };
  /** What came out of the gates. */
  readonly report?: (report: GateReport) => GateReport;
  /** Author of the sealed commit and its further trailers. */
  readonly author?: string;
  readonly trailers?: string;
}

export const startedOn = '2026-01-01T10:00:00.000Z';

/** The spec of every sealed run here; only what verification reads. */
export function specDocument(changes: SealChanges = {}): Json {
  return {
    metadata: { id: 'spec-1' },
    ...(changes.humanInLoop ? { risk: { humanInLoop: changes.humanInLoop } } : {}),
    acceptance: { verificationPlan: { fastChecks: changes.fastChecks ?? [{ id: 'unit' }] } },
    artifacts: { retention: { days: changes.artifactDays ?? 90 } },
    constraints: { privacy: { retentionDays: 30 } },
    provenance: {
      transparencyLog: { mode: 'internal-ledger' },
      bindings: { embedIntentSpecDigest: true, embedEvidenceDigests: true },
      ...changes.provenance,
    },
  };
}

/** Seals a run on a machine with its own key and ledger, exactly as the engine does. */
export async function sealRun(machine: Machine, changes: SealChanges = {}): Promise<SealedRun> {
  const env = { HOME: machine.home };
  const spec = specDocument(changes);
  const runId = changes.runId ?? 'run-1';
  const specDigest = canonicalDigest(spec);
  const report = changes.report?.(reportOf(runId, specDigest)) ?? reportOf(runId, specDigest);
  const files: [string, string][] = [
    ['spec.json', JSON.stringify(spec, null, 2)],
    ['patchset.json', '{"patchset":1}'],
    ['evidence/0001-unit.json', '{"status":"passed"}'],
    ['evidence/0002-fast.json', '{"stage":"fast"}'],
    [
      'decision-input.json',
      JSON.stringify({
        input: 1,
        policyCommit: '2'.repeat(changes.hash === 'sha256' ? 64 : 40),
        ...changes.decisionInput,
      }),
    ],
    ['decision-record.json', '{"record":1}'],
    ['gate-report.json', JSON.stringify(report)],
    ['decision.json', '{"type":"commit"}'],
  ];
  const run: Files = new Map(files.map(([path, text]) => [path, Buffer.from(text)]));
  for (let n = 0; n < (changes.moreEvidence ?? 0); n += 1)
    run.set(`evidence/${1000 + n}-more.json`, Buffer.from(JSON.stringify({ n, text: 'x'.repeat(1000) })));
  const content: Files = new Map([
    ['patchset.diff', Buffer.from('diff --git a/x b/x\n')],
    ['artifacts/fast/unit/test-log.txt', Buffer.from('1 passed\n')],
  ]);
  const commit = makeCommit(runId, specDigest, changes);
  const signed = changes.approvals?.({
    runId,
    baseCommit: '2'.repeat(commit.id.length),
    candidateTree: commit.tree,
    patchDigest: sha256Hex(content.get('patchset.diff') ?? ''),
    specDigest,
    gateReportDigest: verdictDigest(report),
  });
  if (signed) {
    for (const [n, document] of signed.documents.entries())
      run.set(`approvals/${String(n + 1).padStart(4, '0')}.json`, Buffer.from(document));
    run.set('approvals/gate-report.json', Buffer.from(JSON.stringify(signed.shown ?? report)));
    if (signed.received)
      run.set('approvals/received.json', Buffer.from(JSON.stringify({ received: signed.received })));
    run.set('approvals/authors.json', Buffer.from(JSON.stringify({ authors: signed.authors ?? [] })));
  }
  const listed = [...run, ...[...content].filter(([path]) => path.startsWith('artifacts/'))];
  const request: AttestRequest = {
    runId,
    spec: spec as unknown as EffectiveIntentSpec,
    specDigest,
    schedulerVersion: '0.1.0',
    engine: { name: 'writ', uri: 'pkg:npm/writ@0.1.0', digest: { sha256: '7'.repeat(64) } },
    sandbox: 'bubblewrap',
    repositoryUri: 'urn:writ:repository:local',
    baseCommit: '2'.repeat(commit.id.length),
    policyCommit: '2'.repeat(commit.id.length),
    commit: commit.id,
    tree: commit.tree,
    patchDigest: sha256Hex(content.get('patchset.diff') ?? ''),
    resolvedDependencies: [],
    byproducts: listed.map(([name, bytes]) => ({ name, digest: { sha256: sha256Hex(bytes) } })),
    stages: [fastStage, ...(['integration', 'security', 'release'] as const).map(emptyStage)],
    approvals: signed?.verdicts ?? [],
    startedOn,
    finishedOn: '2026-01-01T10:01:00.000Z',
  };
  const logged = (spec.provenance as Json).transparencyLog as Json;
  const signer = changes.signer ?? (await openUserSigningKey(env));
  const parties = {
    signer,
    log:
      logged.mode === 'none'
        ? undefined
        : (changes.log?.(signer) ?? openUserLedger(machine.commonDir, env, systemClock)),
  };
  const attestor = createSlsaAttestor();
  const asked = changes.request?.(request) ?? request;
  const put = (added: readonly SealedFile[]): void => {
    for (const [path, bytes] of added) run.set(path, Buffer.from(bytes));
  };
  put(await attestor.signFindings(asked, parties));
  const statements = [...run].filter(([path]) => path.startsWith('statements/'));
  const byproducts = [
    ...asked.byproducts,
    ...statements.map(([name, bytes]) => ({ name, digest: { sha256: sha256Hex(bytes) } })),
  ];
  const envelope = await attestor.sign({ ...asked, byproducts }, parties);
  const attestation = await attestor.log(envelope, parties, (await parties.log?.size()) ?? 0);
  put([['provenance.sigstore.json', attestation.bundle]]);
  if (attestation.proof) put([['transparency-proof.tlog-proof', attestation.proof]]);
  put(await attestor.signSummary(asked, run, parties));
  return { commit, run, content };
}

const unitCheck: CheckRecord = {
  id: 'unit',
  kind: 'testSuite',
  stage: 'fast',
  status: 'passed',
  required: true,
  command: 'node --test',
  expectedExitCode: 0,
  exitCode: 0,
  timedOut: false,
  durationMs: 12,
  startedAt: startedOn,
  tests: { passed: 1, failed: 0, skipped: 0 },
  artifacts: [],
  findings: [],
};
const fastStage: StageRecord = {
  stage: 'fast',
  status: 'passed',
  expected: 1,
  ran: 1,
  checks: [unitCheck],
  findings: [],
};

function emptyStage(stage: StageRecord['stage']): StageRecord {
  return { stage, status: 'skipped', expected: 0, ran: 0, checks: [], findings: [] };
}

function reportOf(runId: string, digest: string): GateReport {
  return {
    schema: 'urn:writ:gate-report:v1',
    runId,
    threadId: 'thread-1',
    startedAt: startedOn,
    spec: {
      id: 'spec-1',
      digest,
      summary: 'a thing',
      changeType: 'bugfix',
      riskLevel: 'low',
      objectives: [],
    },
    targetRef: 'refs/heads/main',
    sandbox: 'bubblewrap',
    authorship: { authors: ['A <a@example.org>'], committers: [] },
    stages: [fastStage, ...(['integration', 'security', 'release'] as const).map(emptyStage)],
    findings: [],
    artifacts: [],
  };
}

function makeCommit(
  runId: string,
  specDigest: string,
  { hash = 'sha1', author = 'A <a@example.org>', trailers = '' }: SealChanges,
): { id: string; raw: Buffer; tree: string } {
  const tree = '4'.repeat(hash === 'sha1' ? 40 : 64);
  const raw = Buffer.from(
    `tree ${tree}\nparent ${'2'.repeat(tree.length)}\nauthor ${author} 1 +0000\ncommitter A <a@example.org> 1 +0000\n\n` +
      `fix: a thing\n\nIntent-Id: spec-1\nRun-Id: ${runId}\nIntentspec-Digest: ${specDigest}\n${trailers}`,
  );
  return { id: commitId(raw, hash), raw, tree };
}

export function commitId(raw: Buffer, hash: 'sha1' | 'sha256' = 'sha1'): string {
  return createHash(hash).update(`commit ${raw.length}\0`).update(raw).digest('hex');
}

/** Signs and logs other bytes in place of the statement: what a broken or hostile, yet trusted, signer could do. */
export async function resealPayload(
  machine: Machine,
  sealed: SealedRun,
  payload: Buffer,
  payloadType = inTotoPayloadType,
): Promise<SealedRun> {
  const env = { HOME: machine.home };
  const signer = await openUserSigningKey(env);
  const ledger = openUserLedger(machine.commonDir, env, systemClock);
  const envelope = await signEnvelope(payloadType, payload, signer);
  const proof = await ledger.append(buildLogEntry(envelope, createPublicKey(signer.publicKeyPem)));
  const copy = copyOf(sealed);
  const { keyId: logId } = parseVkey(await ledger.vkey());
  copy.run.set(
    'provenance.sigstore.json',
    Buffer.from(formatBundle({ envelope, proof: { ...proof, logId } })),
  );
  copy.run.set('transparency-proof.tlog-proof', Buffer.from(formatTlogProof(proof)));
  return copy;
}

/** The signed statement of a run, to be changed and sealed again. */
export function statementOf(sealed: SealedRun): ProvenanceStatement {
  const { envelope } = parseBundle(sealed.run.get('provenance.sigstore.json') ?? Buffer.alloc(0));
  return JSON.parse(envelope.payload.toString('utf8'));
}

/**
 * Signs a changed statement in place of one beside the provenance, and a manifest over the result, with the run's own
 * key or another.
 */
export async function resealStatement(
  machine: Machine,
  sealed: SealedRun,
  path: string,
  change: (statement: Json & { predicate: Json }) => unknown,
  options: { readonly payloadType?: string; readonly signer?: Signer } = {},
): Promise<SealedRun> {
  const signer = options.signer ?? (await openUserSigningKey({ HOME: machine.home }));
  const payload = Buffer.from(canonicalize(change(statementAt(sealed, path))));
  const envelope = await signEnvelope(options.payloadType ?? inTotoPayloadType, payload, signer);
  const copy = copyOf(sealed);
  const certificate = signer.certificate && { certificate: Buffer.from(signer.certificate()) };
  copy.run.set(path, Buffer.from(formatBundle({ envelope, proof: undefined, ...certificate })));
  if (path === manifestPath) return copy;
  return resealStatement(machine, copy, manifestPath, (manifest) => ({
    ...manifest,
    predicate: { ...manifest.predicate, files: digestsOf(copy, (name) => name !== manifestPath) },
  }));
}

/** Signs summary and manifest anew over what a run holds now: what only the holder of its key can do. */
export function rebound(machine: Machine, sealed: SealedRun): Promise<SealedRun> {
  const inputs = digestsOf(
    sealed,
    (name) => isAttestation(name) && name !== summaryPath && name !== manifestPath,
  );
  return resealStatement(machine, sealed, summaryPath, (summary) => ({
    ...summary,
    predicate: {
      ...summary.predicate,
      inputAttestations: inputs.map(({ name, digest }) => ({ uri: `urn:writ:run:run-1:${name}`, digest })),
    },
  }));
}

const summaryPath = 'statements/vsa.sigstore.json';
const manifestPath = 'evidence-manifest.sigstore.json';

function digestsOf({ run }: SealedRun, wanted: (name: string) => boolean) {
  return [...run]
    .filter(([name]) => wanted(name))
    .map(([name, bytes]) => ({ name, digest: { sha256: sha256Hex(bytes) } }));
}

/** A signed statement of a run. */
export function statementAt(sealed: SealedRun, path: string): Json & { predicate: Json } {
  const { envelope } = parseBundle(sealed.run.get(path) ?? Buffer.alloc(0));
  return JSON.parse(envelope.payload.toString('utf8'));
}

/** A copy to attack. */
export function copyOf(sealed: SealedRun): SealedRun {
  return { commit: { ...sealed.commit }, run: new Map(sealed.run), content: new Map(sealed.content) };
}

/** What verification sees of a run; `ledgerOf` is the machine whose ledger lies beside the repository. */
export function toSource(sealed: SealedRun, ledgerOf?: Machine): EvidenceSource {
  return {
    commit: sealed.commit,
    listRun: async () => [...sealed.run.keys()],
    readRun: async (path) => sealed.run.get(path),
    listContent: async () => [...sealed.content.keys()],
    readContent: async (path) => sealed.content.get(path),
    ...(ledgerOf === undefined ? {} : { readLedger: readFrom(join(ledgerOf.commonDir, 'writ', 'ledger')) }),
  };
}

/** A clock that stands still, days after the run. */
export function daysLater(days: number): Clock {
  return { ...systemClock, now: () => Date.parse(startedOn) + days * 86_400_000 };
}

export interface VerifyAs {
  readonly machine: Machine;
  readonly keyFiles?: readonly string[];
  readonly ledgerKeys?: readonly string[];
  readonly ledgerOf?: Machine;
  readonly options?: Partial<VerifyOptions>;
}

/** Verifies as the user of a machine, with what that machine trusts and remembers. */
export async function verifyAs(sealed: SealedRun, as: VerifyAs): Promise<VerifyReport> {
  const env = { HOME: as.machine.home };
  const given = { keyFiles: as.keyFiles ?? [], ledgerKeys: as.ledgerKeys ?? [] };
  return verifyRun(toSource(sealed, as.ledgerOf), await loadAnchors(given, env), {
    clock: daysLater(1),
    memory: userCheckpointMemory(env),
    ...as.options,
  });
}

/** `id status code` of every check that did not pass. */
export function troubles(report: VerifyReport): readonly string[] {
  return report.checks
    .filter((check) => check.status !== 'passed')
    .map((check) => [check.id, check.status, check.code].filter((part) => part !== undefined).join(' '));
}
