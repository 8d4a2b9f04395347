import { sha256Hex } from '../../core/base/digest.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import { subjectsOf } from './build-provenance.ts';
import { type DigestSet, type Statement, statementType } from './statement.ts';

/** SLSA Verification Summary Attestation 1.2. */
export const summaryType = 'https://slsa.dev/verification_summary/v1';

/** Who judged: the gates of this product, whoever's key signs. A consumer ties it to keys, never to this name alone. */
export const verifierId = 'urn:writ:verifier:gates:v1';

/**
 * What is claimed: all gates of the contract passed; at least two persons who did not make the change signed for it
 * themselves.
 */
export const levels = { gates: 'WRIT_GATES_PASSED', people: 'WRIT_TWO_PERSON_APPROVED' } as const;

/** The verdict in the words that every policy engine reads. */
export interface VerificationSummary {
  readonly verifier: { readonly id: typeof verifierId; readonly version: { readonly writ: string } };
  readonly timeVerified: string;
  readonly resourceUri: string;
  readonly policy: { readonly uri: string; readonly digest: DigestSet };
  /** All of them: every bundle and approval of the run. */
  readonly inputAttestations: readonly { readonly uri: string; readonly digest: DigestSet }[];
  readonly verificationResult: 'PASSED';
  readonly verifiedLevels: readonly string[];
  readonly slsaVersion: '1.2';
}

type SummaryStatement = Statement<typeof summaryType, VerificationSummary>;

/** True for a stored file that is an attestation by itself. */
export function isAttestation(path: string): boolean {
  return path.endsWith('.sigstore.json') || /^approvals\/\d+\.json$/.test(path);
}

/** Name of a file of a run in a statement. */
export function attestationUri(runId: string, path: string): string {
  return `urn:writ:run:${runId}:${path}`;
}

/** The policy of a run is its contract. */
export function policyUri(specId: string): string {
  return `urn:writ:intentspec:${encodeURIComponent(specId)}`;
}

/** The summary of a run that was decided to be committed; `recorded` holds every attestation that led there. */
export function buildSummary(
  request: AttestRequest,
  recorded: ReadonlyMap<string, Uint8Array>,
): SummaryStatement {
  const people = new Set(
    request.approvals
      .filter(
        ({ status, decision, inProcess }) => status === 'counts' && decision === 'approve' && !inProcess,
      )
      .map(({ principal }) => principal),
  );
  return {
    _type: statementType,
    subject: subjectsOf(request),
    predicateType: summaryType,
    predicate: {
      verifier: { id: verifierId, version: { writ: request.schedulerVersion } },
      timeVerified: request.finishedOn,
      resourceUri: request.repositoryUri,
      policy: {
        uri: policyUri(request.spec.metadata.id),
        digest: { sha256: request.specDigest },
      },
      inputAttestations: [...recorded]
        .filter(([path]) => isAttestation(path))
        .map(([path, bytes]) => ({
          uri: attestationUri(request.runId, path),
          digest: { sha256: sha256Hex(bytes) },
        })),
      verificationResult: 'PASSED',
      verifiedLevels: [levels.gates, ...(people.size >= 2 ? [levels.people] : [])],
      slsaVersion: '1.2',
    },
  };
}
