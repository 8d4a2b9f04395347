import { isWritError } from '../../core/base/errors.ts';
import { parseBundle } from '../bundle.ts';
import { inTotoPayloadType, verifyEnvelope } from '../dsse.ts';
import { expectObject, parseJsonObject } from '../expect-json.ts';
import { revocationType } from '../statement/revocation.ts';
import { type Anchors, findSigner } from './anchors.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';

/** True when an anchored key signed that this very run's provenance did not take effect. */
export function isRevocation(bytes: Uint8Array, anchors: Anchors, claims: ProvenanceClaims): boolean {
  try {
    const { envelope } = parseBundle(bytes);
    const anchor = findSigner(anchors, envelope.keyId);
    if (anchor === undefined || envelope.payloadType !== inTotoPayloadType) return false;
    const statement = parseJsonObject(verifyEnvelope(envelope, anchor.key), 1024 * 1024);
    const predicate = expectObject(statement.predicate, '/predicate');
    return statement.predicateType === revocationType && predicate.run_id === claims.runId;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return false;
    throw fault;
  }
}
