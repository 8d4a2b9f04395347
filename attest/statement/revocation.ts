import type { ResourceDescriptor, Statement } from './statement.ts';
import { statementType } from './statement.ts';

export const revocationType = 'urn:writ:predicate:revocation:v1';

/** Says that a provenance statement over the same subjects did not take effect. */
type RevocationStatement = Statement<typeof revocationType, { readonly run_id: string }>;

/**
 * Nothing in it but what the provenance says too: a log holds digests only, and so a verifier that has the provenance
 * can tell its revocation there without being handed it. Reason and time stand in the run's Decision.Rollback.
 */
export function buildRevocation(subject: readonly ResourceDescriptor[], runId: string): RevocationStatement {
  return {
    _type: statementType,
    subject,
    predicateType: revocationType,
    predicate: { run_id: runId },
  };
}
