import {
  type ApprovalInput,
  buildApproval,
  encodeApprovalDocument,
} from '../../../attest/approval/approval-statement.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { ApprovalSubject, ApprovalVerdict } from '../../../core/interfaces/approval.ts';
import type { HandSigner } from '../approval/hand-signer.ts';
import { type SealChanges, startedOn } from './sealed-run.ts';

export interface Signature extends Partial<ApprovalInput> {
  readonly by: HandSigner;
  readonly as: string;
  /** What it is signed as; approvals unless told. */
  readonly namespace?: string;
}

/** What these people signed about the run, which the Scheduler counted. */
export function approvedBy(...signatures: readonly Signature[]): NonNullable<SealChanges['approvals']> {
  return (subject: ApprovalSubject) => {
    const statements = signatures.map(({ by: _by, as: _as, namespace: _namespace, ...more }) =>
      buildApproval({ subject, decision: 'approve', signedAtMs: Date.parse(startedOn), ...more }),
    );
    return {
      documents: signatures.map(({ by, namespace }, n) => {
        const statement = statements[n] ?? Buffer.alloc(0);
        return encodeApprovalDocument(statement, by.sign(statement, namespace));
      }),
      verdicts: signatures.map(
        ({ as, decision = 'approve', inProcess }, n): ApprovalVerdict => ({
          source: `refs/ai/approvals/run-1/${n + 1}`,
          digest: sha256Hex(statements[n] ?? ''),
          decision,
          principal: as,
          keyId: 'SHA256:x',
          signedAt: startedOn,
          ...(inProcess ? { inProcess } : {}),
          status: 'counts',
        }),
      ),
    };
  };
}
