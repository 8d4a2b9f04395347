import { WritError } from '../../core/base/errors.ts';
import { inTotoPayloadType } from '../encoding/dsse.ts';
import { expectObject, parseJsonObject } from '../encoding/expect-json.ts';
import { statementType } from '../statement/statement.ts';
import { type AnyStatement, readAttestation } from './read-attestation.ts';

const maxBytes = 4 * 1024 * 1024;
/**
 * Reads what is to be signed, strictly: in-toto Statement v1, no member beyond its four, at least one subject, each
 * with digests of the length that their algorithm makes. Anything else is ATTESTATION_MALFORMED and says what was
 * found.
 */
export function requireStatement(bytes: Uint8Array): AnyStatement {
  const members = expectObject(parseJsonObject(bytes, maxBytes), '', [
    '_type',
    'subject',
    'predicateType',
    'predicate',
  ]);
  if (members._type !== statementType) throw refusal('/_type', statementType, members._type);
  let statement: AnyStatement;
  try {
    statement = readAttestation(inTotoPayloadType, bytes);
  } catch (fault) {
    if (!(fault instanceof WritError) || fault.code === 'ATTESTATION_MALFORMED') throw fault;
    throw refusal('/subject', 'at least one subject with a digest', fault.detail.found);
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(statement.predicateType))
    throw refusal('/predicateType', 'a URI', statement.predicateType);
  return statement;
}

function refusal(path: string, expected: string, found: unknown): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `that is no statement to sign: expected ${expected} at \`${path}\`, found \`${String(found).slice(0, 200)}\``,
    detail: { path, expected, found: String(found).slice(0, 200) },
  });
}
