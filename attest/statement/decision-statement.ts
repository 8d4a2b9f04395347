import { WritError } from '../../core/base/errors.ts';
import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import { subjectsOf } from './build-provenance.ts';
import { type DigestSet, type Statement, statementType } from './statement.ts';

/** Our own predicate (`docs/schemas/decision.v1.json`). */
export const decisionType = 'urn:writ:predicate:decision:v1';

interface Digested {
  readonly digest: DigestSet;
}

/** That a change was decided to be committed, and by what. */
export interface DecisionPredicate {
  readonly runId: string;
  readonly decision: 'commit';
  /** `null` on an unborn branch. */
  readonly baseCommit: string | null;
  readonly intentspec: Digested;
  /** `decision-record.json`, `decision-input.json`, `gate-report.json` as they are stored. */
  readonly record: Digested;
  readonly input: Digested;
  readonly gateReport: Digested;
  /** Every stage: checks that had to run and checks that ran. */
  readonly stages: readonly {
    readonly stage: string;
    readonly status: string;
    readonly expected: number;
    readonly ran: number;
  }[];
  /** Who approved, as far as it counted: fingerprint of the key, digest of what was signed. */
  readonly approvals: readonly {
    readonly principal: string;
    readonly keyId: string;
    readonly digest: DigestSet;
    /** Signed by the Scheduler's own process, which the config at the policy commit lets count. */
    readonly inProcess?: true;
  }[];
}

type DecisionStatement = Statement<typeof decisionType, DecisionPredicate>;

/** The statement about a decision to commit. */
export function buildDecision(request: AttestRequest): DecisionStatement {
  const stored = (name: string): Digested => {
    const found = request.byproducts.find((one) => one.name === name);
    if (!found) throw new WritError('INTERNAL', { message: `the record of the run has no \`${name}\`` });
    return { digest: found.digest };
  };
  return {
    _type: statementType,
    subject: subjectsOf(request),
    predicateType: decisionType,
    predicate: {
      runId: request.runId,
      decision: 'commit',
      baseCommit: request.baseCommit ?? null,
      intentspec: { digest: { sha256: request.specDigest } },
      record: stored('decision-record.json'),
      input: stored('decision-input.json'),
      gateReport: stored('gate-report.json'),
      stages: request.stages.map(({ stage, status, expected, ran }) => ({ stage, status, expected, ran })),
      approvals: request.approvals
        .filter(({ status, decision }) => status === 'counts' && decision === 'approve')
        .map(({ principal, keyId, digest, inProcess }) => ({
          principal,
          keyId,
          digest: { sha256: digest },
          ...(inProcess ? { inProcess } : {}),
        })),
    },
  };
}
