import { type SealedObject, sealObject } from '../../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';

/**
 * The Intent of a contract as the object that is stored (document 1, Metadata and Intent): created by who created the
 * contract. `threadId` is its own id, `nowMs` when it is stored.
 */
export function sealIntent(
  { effective, digest }: Pick<AdmittedContract, 'effective' | 'digest'>,
  { threadId, nowMs }: { readonly threadId: string; readonly nowMs: number },
): SealedObject<'intent'> {
  const { intent, metadata, risk } = effective;
  const { id, createdBy, target } = metadata;
  const body = {
    intentspec_digest: digest,
    summary: intent.summary,
    prompt: intent.problemStatement,
    change_type: intent.changeType,
    risk_level: risk.level,
    objectives: intent.objectives,
  };
  return sealObject('intent', body, {
    nowMs,
    objectId: threadId,
    createdBy: { kind: createdBy.type, id: createdBy.id },
    externalIds: { intentspec_id: id },
    tags: { ...target.labels },
  });
}
