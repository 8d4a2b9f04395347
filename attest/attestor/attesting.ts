/* The attestor of the engine: signs the statements of a run and verifies them before they are stored. */

import type {
  Attesting,
  Attestor,
  AttestRequest,
  SealedFile,
  SealingParties,
} from '../../core/interfaces/sealing.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { logEnvelope, signStatement, toUnloggedBundle } from '../bundle/seal-statement.ts';
import { buildProvenance, type ProvenanceStatement } from '../statement/build-provenance.ts';
import {
  buildDecision,
  buildEquivalence,
  buildManifest,
  buildRevocation,
  buildSummary,
  buildTestResults,
  buildWaitingRun,
} from '../statement/run-statements.ts';
import type { Statement } from '../statement/statement.ts';
import { runFiles, testResultPath } from '../verify/evidence-source.ts';
import { rehearse, verifyDecided, verifyOwnSeal, verifyWaitingRun } from '../verify/own-seal.ts';

/** SLSA provenance, and approvals by SSH key: what reads these is loaded when there is something to read. */
export const attesting: Attesting = {
  attestor: createSlsaAttestor(),
  approvals: {
    read: async (...asked) => (await import('../approval/read-approvals.ts')).sshsigApprovals.read(...asked),
  },
};

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
