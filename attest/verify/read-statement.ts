import { parseBundle } from '../bundle/bundle.ts';
import { inTotoPayloadType, verifyEnvelope } from '../encoding/dsse.ts';
import { expectArray, expectObject, type JsonObject, parseJsonObject } from '../encoding/expect-json.ts';
import { statementType } from '../statement/statement.ts';
import { type ProvenanceClaims, readSubjects, requireType } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { RunSigner } from './run-signer.ts';

const maxPayloadBytes = 4 * 1024 * 1024;

/**
 * The predicate of a statement that stands beside the provenance: signed by the very key and certificate of the
 * provenance, of that type, about the same subjects, in a bundle without a log entry. `untrusted-signer`,
 * `bad-signature`, `wrong-type`, `wrong-subject`, or ATTESTATION_MALFORMED.
 */
export function readCompanion(
  bytes: Uint8Array,
  predicateType: string,
  signer: RunSigner,
  claims: ProvenanceClaims,
): JsonObject {
  const { envelope, proof, certificate } = parseBundle(bytes);
  if (envelope.keyId !== signer.keyId)
    throw unavailable('untrusted-signer', { key_id: envelope.keyId, expected: signer.keyId });
  const isSame = signer.certificate?.equals(certificate ?? Buffer.alloc(0)) ?? certificate === undefined;
  if (!isSame)
    throw unavailable('untrusted-signer', {
      expected: signer.certificate ? 'the certificate of the provenance' : 'a key without certificate',
      found: certificate ? 'another certificate' : 'no certificate',
    });
  const payload = verifyEnvelope(envelope, signer.key);
  if (proof !== undefined) throw refuted('malformed', { found: 'a log entry where none belongs' });
  requireType('payloadType', envelope.payloadType, inTotoPayloadType);
  const statement = parseJsonObject(payload, maxPayloadBytes);
  requireType('_type', statement._type, statementType);
  requireType('predicateType', statement.predicateType, predicateType);
  const subjects = readSubjects(expectArray(statement.subject, '/subject', 100));
  for (const name of ['commit', 'tree', 'patchset'] as const) {
    if (subjects[name] !== claims[name])
      throw refuted('wrong-subject', { subject: name, expected: claims[name], found: subjects[name] });
  }
  return expectObject(statement.predicate, '/predicate');
}
