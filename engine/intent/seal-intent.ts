import { type SealedObject, sealObject } from '../../store/stored-object.ts';
import type { AdmittedContract } from './admit-contract.ts';

/**
 * Builds the stored Intent object of a spec, with the spec's creator as its creator. `threadId` is its own id, and
 * `nowMs` is the time of storing.
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
