/*
 * The attestor of the engine: signs the statements of a run, and verifies a change and its seal before they are
 * stored.
 */

import { createPublicKey } from 'node:crypto';
import { canonicalize, sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ApprovalReader } from '../../core/interfaces/approval.ts';
import type {
  Attesting,
  Attestor,
  AttestRequest,
  SealedEvidence,
  SealedFile,
  SealingParties,
} from '../../core/interfaces/sealing.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { logEnvelope, parseBundle, signStatement, toUnloggedBundle } from '../bundle/bundle.ts';
import { parseEnvelope, verifyEnvelope } from '../encoding/dsse.ts';
import { keyIdOf, parsePublicKey } from '../encoding/public-key.ts';
import { noMemory } from '../log/checkpoint-memory.ts';
import { parseVkey } from '../log/note.ts';
import { parseTrustedRoot } from '../public/trusted-root.ts';
import {
  buildDecision,
  buildEquivalence,
  buildManifest,
  buildProvenance,
  buildRevocation,
  buildSummary,
  buildTestResults,
  buildWaitingRun,
  carriedIn,
  type ProvenanceStatement,
  waitingRunType,
} from '../statement/run-statements.ts';
import type { Statement } from '../statement/statement.ts';
import type { Anchors } from '../verify/anchors.ts';
import { readCertificateClaims } from '../verify/certificate-claims.ts';
import { type EvidenceSource, parseCommit, runFiles, testResultPath } from '../verify/evidence-source.ts';
import { readProvenance } from '../verify/provenance-claims.ts';
import { readAttestation } from '../verify/read-attestation.ts';
import { CheckList, refuted, type VerifyReport } from '../verify/report.ts';
import { verifyApprovals, verifyCarried } from '../verify/verify-approvals.ts';
import { treeChecks, verifyReplay, verifyTree } from '../verify/verify-evidence.ts';
import { verifyRun } from '../verify/verify-run.ts';
import { verifySpec } from '../verify/verify-spec.ts';

/** SLSA provenance, and approvals by SSH key: what reads these is loaded when there is something to read. */
export const attesting: Attesting = {
  attestor: createSlsaAttestor(),
  approvals: {
    read: async (...asked) => (await loadApprovals()).read(...asked),
    namesIn: async (signers) => (await loadApprovals()).namesIn(signers),
  },
};

async function loadApprovals(): Promise<ApprovalReader> {
  return (await import('../approval/read-approvals.ts')).sshsigApprovals;
}

/**
 * The statements of `docs/decisions/0006-evidence-set.md` in DSSE envelopes, as sigstore bundles v0.3. A signature
 * differs each time.
 */
export function createSlsaAttestor(): Attestor {
  return {
    async signFindings(request, parties) {
      const results = [...buildTestResults(request)].map(
        ([check, statement]) => [testResultPath(encodeId(check)), statement] as const,
      );
      const equivalence = buildEquivalence(request);
      const statements: readonly (readonly [string, Statement])[] = [
        ...results,
        [runFiles.decision, buildDecision(request)],
        ...(equivalence ? [[runFiles.equivalence, equivalence] as const] : []),
      ];
      return Promise.all(statements.map(([path, statement]) => signFile(path, statement, parties)));
    },
    sign: async (request, parties) => signStatement(await toProvenance(request, parties.log), parties),
    async signRevocation(request, parties) {
      const { subject } = await toProvenance(request, parties.log);
      return signStatement(buildRevocation(subject, request.runId), parties);
    },
    log: (envelope, parties, behind) => logEnvelope(envelope, parties, behind),
    async signSummary(request, recorded, parties) {
      const summary = await signFile(runFiles.summary, buildSummary(request, recorded), parties);
      const manifest = buildManifest(request, new Map([...recorded, summary]));
      return [summary, await signFile(runFiles.manifest, manifest, parties)];
    },
    verifyDecided: async (request, evidence) =>
      verifyDecided(request, await toProvenance(request, undefined), evidence),
    verify: verifyOwnSeal,
    signWaiting: async (runId, files, parties) =>
      toUnloggedBundle(await signStatement(buildWaitingRun(runId, files), parties), parties),
    isWaitingSignedBy: verifyWaitingRun,
    rehearse: async (request, parties) => rehearse(await toProvenance(request, parties.log), parties),
  };
}

async function signFile(path: string, statement: Statement, parties: SealingParties): Promise<SealedFile> {
  return [path, toUnloggedBundle(await signStatement(statement, parties), parties)];
}

async function toProvenance(
  request: AttestRequest,
  log: SealingParties['log'],
): Promise<ProvenanceStatement> {
  const { spec, stages: _stages, approvals: _approvals, ...rest } = request;
  return buildProvenance({
    ...rest,
    specId: spec.metadata.id,
    ...spec.provenance.bindings,
    ledger: await log?.vkey(),
  });
}

/**
 * Verifies a seal before it is stored, as `writ verify RUN --allowed-signers F --replay` does: by the key or the
 * certified identity and the log that made it, and by the signers at the policy commit. Returns each refusal as `check
 * status code`.
 */
export async function verifyOwnSeal(
  evidence: SealedEvidence,
  { signer, log }: SealingParties,
): Promise<readonly string[]> {
  const vkey = await log?.vkey();
  const { identity, issuer } = signer.certificate ? readCertificateClaims(signer.certificate()) : {};
  const anchors: Anchors = {
    // A certified key is believed by its certificate or not at all.
    signers: signer.certificate
      ? []
      : [{ keyId: signer.keyId, key: createPublicKey(signer.publicKeyPem), from: 'given' }],
    ...(identity !== undefined && issuer !== undefined && { identity: { identity, issuer } }),
    ledgers: vkey === undefined ? [] : [{ ...parseVkey(vkey), from: 'given' }],
    ownLedgers: [],
    ...(log?.trustedRoot && { trustedRoot: parseTrustedRoot(log.trustedRoot) }),
  };
  const report = await verifyRun(toOwnSource(evidence), anchors, {
    clock: systemClock,
    // A seal that is only being made has no history to compare with; the log held its own when it appended.
    memory: noMemory,
    runId: evidence.runId,
    allowedSigners: evidence.allowedSigners,
    replay: evidence.replay,
  });
  return refusalsIn(report);
}

/** What is about to be stored, as if it were stored already. */
function toOwnSource({
  commit,
  files,
  contentPaths,
  readContent,
  readAt,
  listPeople,
  carry,
}: SealedEvidence): EvidenceSource {
  return {
    commit,
    listRun: async () => [...files.keys()],
    readRun: async (path) => files.get(path),
    listContent: async () => contentPaths,
    readContent,
    ...(readAt ? { readAt } : {}),
    ...(listPeople ? { listPeople } : {}),
    ...(carry ? { carry } : {}),
  };
}

/** Each refusal as `check status code`, with what was found; none where everything holds. */
function refusalsIn(report: VerifyReport): readonly string[] {
  if (report.verified) return [];
  const refused = report.checks.filter(({ status }) => status !== 'passed' && status !== 'expired');
  return refused.map(({ id, status, code, detail }) => {
    const words = [id, status, code].filter((part) => part !== undefined).join(' ');
    return id === 'approvals' && detail ? `${words} ${JSON.stringify(detail).slice(0, 600)}` : words;
  });
}

/**
 * Runs the checks that a third-party verifier requires, whether or not the change is signed. The commit contains the
 * candidate, and the repository its bytes. The spec is the decided one. By the signers at the policy commit, enough
 * people approved it. The record leads to the decision.
 *
 * `provenance` is the statement that would be signed. Returns each refusal as `check status code`.
 */
async function verifyDecided(
  request: AttestRequest,
  provenance: ProvenanceStatement,
  evidence: SealedEvidence,
): Promise<readonly string[]> {
  const list = new CheckList('replay');
  list.expect('subject-tree', 'spec', 'replay');
  const source = toOwnSource(evidence);
  const claims = readProvenance(Buffer.from(canonicalize(provenance)));
  const commit = parseCommit(evidence.commit.raw);
  await list.run('subject-tree', () => {
    if (commit?.tree !== claims.tree)
      throw refuted('wrong-subject', { expected: claims.tree, found: commit?.tree ?? 'none' });
  });
  // Once: what is verified again after signing does not touch the tree.
  const { hashTree } = evidence;
  const stored = { ...source, ...(hashTree ? { hashTree } : {}) };
  list.expect(...treeChecks(stored));
  await verifyTree(list, stored, claims.tree);
  const spec = await list.run('spec', () => {
    if (commit === undefined) throw refuted('malformed', { found: 'not a commit object' });
    return verifySpec(source, commit, claims, request.specDigest);
  });
  const { baseCommit, approvals } = buildDecision(request).predicate;
  const counted = approvals.map(({ principal, digest, inProcess }) => ({
    principal,
    digest: digest.sha256 ?? '',
    inProcess: inProcess === true,
  }));
  const decision = { baseCommit, approvals: counted, approvers: counted.map(({ principal }) => principal) };
  const facts = { list, source, claims, spec, commit };
  const carried = await verifyCarried(facts, carriedIn(request));
  await verifyApprovals(facts, decision, { allowedSigners: evidence.allowedSigners, carried });
  await list.run('replay', () => verifyReplay(source, claims, evidence.replay));
  return refusalsIn(list.report());
}

/** Signs a provenance, reads it back like a verifier, and checks the log's head. Returns the faults. Stores nothing. */
async function rehearse(statement: ProvenanceStatement, parties: SealingParties): Promise<readonly string[]> {
  const { signer, log } = parties;
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'the provenance does not verify',
      async () => {
        const { value } = parseStrictJson(await signStatement(statement, parties), {
          code: 'ATTESTATION_MALFORMED',
        });
        readProvenance(verifyEnvelope(parseEnvelope(value, ''), createPublicKey(signer.publicKeyPem)));
      },
    ],
    ['the log cannot be used', async () => log?.size()],
  ];
  const problems: string[] = [];
  for (const [what, attempt] of attempts) {
    try {
      await attempt();
    } catch (fault) {
      problems.push(`${what}: ${messageOf(fault)}`);
    }
  }
  return problems;
}

/**
 * What one of these keys (PEM) signed for that run: exactly these bytes under these names, or other files. `undefined`
 * if the bundle cannot be read, is signed by another key, or names another run. KEY_UNUSABLE for a key that is none.
 */
export function verifyWaitingRun(
  bundle: Uint8Array,
  runId: string,
  files: ReadonlyMap<string, Uint8Array>,
  keys: readonly string[],
): 'these' | 'others' | undefined {
  const known = keys.map(parsePublicKey);
  try {
    const { envelope } = parseBundle(bundle);
    const key = known.find((one) => keyIdOf(one) === envelope.keyId);
    if (!key) return undefined;
    const payload = verifyEnvelope(envelope, key);
    const { predicateType, predicate, subjects } = readAttestation(envelope.payloadType, payload);
    if (predicateType !== waitingRunType || predicate.run_id !== runId) return undefined;
    const signed = new Map(subjects.map(({ name, digest }) => [name, digest.get('sha256')]));
    const isSame =
      files.size > 0 &&
      signed.size === files.size &&
      [...files].every(([name, bytes]) => signed.get(name) === sha256Hex(bytes));
    return isSame ? 'these' : 'others';
  } catch (fault) {
    if (isWritError(fault)) return undefined;
    throw fault;
  }
}
