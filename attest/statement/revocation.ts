import type { ResourceDescriptor, Statement } from './statement.ts';
import { statementType } from './statement.ts';

export const revocationType = 'urn:writ:predicate:revocation:v1';

/** Says that a provenance statement over the same subjects did not take effect. */
export type RevocationStatement = Statement<
  typeof revocationType,
  { readonly run_id: string; readonly reason: string; readonly revoked_at: string }
>;

/** `revokedAt` is RFC 3339; `reason` is cut at 1,000 characters. */
export function buildRevocation(
  subject: readonly ResourceDescriptor[],
  runId: string,
  reason: string,
  revokedAt: string,
): RevocationStatement {
  return {
    _type: statementType,
    subject,
    predicateType: revocationType,
    predicate: { run_id: runId, reason: reason.slice(0, 1000), revoked_at: revokedAt },
  };
}
