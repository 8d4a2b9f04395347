import { canonicalize } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { readSeal } from '../bundle/bundle.ts';
import { inTotoPayloadType, preAuthEncoding } from '../encoding/dsse.ts';
import { expectObject, parseJsonObject } from '../encoding/expect-json.ts';
import { recordsSignature } from '../log/log-entry.ts';
import { subjectsOf } from '../statement/build-provenance.ts';
import { buildRevocation, revocationType } from '../statement/revocation.ts';
import { type Anchors, findSigner } from './anchors.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { verifySigner } from './run-signer.ts';

/**
 * True when an anchored key, or a believed certificate's at a signed time, signed that this very run's provenance did
 * not take effect.
 */
export async function isRevocation(
  bytes: Uint8Array,
  anchors: Anchors,
  claims: ProvenanceClaims,
): Promise<boolean> {
  try {
    const seal = readSeal(bytes);
    const { envelope } = seal.bundle;
    await verifySigner(seal, anchors);
    if (envelope.payloadType !== inTotoPayloadType) return false;
    const statement = parseJsonObject(envelope.payload, 1024 * 1024);
    const predicate = expectObject(statement.predicate, '/predicate');
    return statement.predicateType === revocationType && predicate.run_id === claims.runId;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return false;
    if (isWritError(fault, 'VERIFY_NOTHING')) return false;
    throw fault;
  }
}

/** Tells the log entry of this very run's revocation by an anchored key. The entry need not be about anything known. */
export function revocationMatcher(anchors: Anchors, claims: ProvenanceClaims): (body: Uint8Array) => boolean {
  const subject = subjectsOf({ ...claims, patchDigest: claims.patchset });
  const payload = Buffer.from(canonicalize(buildRevocation(subject, claims.runId)));
  const signed = preAuthEncoding(inTotoPayloadType, payload);
  return (body) => recordsSignature(body, signed, (keyId) => findSigner(anchors, keyId)?.key);
}
