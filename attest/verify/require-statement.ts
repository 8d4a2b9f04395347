import { WritError } from '../../core/base/errors.ts';
import { inTotoPayloadType } from '../encoding/dsse.ts';
import { expectObject, type JsonObject } from '../encoding/expect-json.ts';
import { statementType } from '../statement/statement.ts';
import { type AnyStatement, judgePredicate, parsePayload, readAttestation } from './read-attestation.ts';

/**
 * Reads what is to be signed, strictly: in-toto Statement v1, no member beyond its four, at least one subject, each
 * with digests of the length that their algorithm makes, and a predicate that `writ verify` would not call malformed or
 * unsupported. Anything else is ATTESTATION_MALFORMED and says what was found.
 */
export function requireStatement(bytes: Uint8Array): AnyStatement {
  const members = readMembers(bytes);
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
  requirePredicate(statement, bytes);
  return statement;
}

function readMembers(bytes: Uint8Array): JsonObject {
  try {
    return expectObject(parsePayload(bytes), '', ['_type', 'subject', 'predicateType', 'predicate']);
  } catch (fault) {
    if (!(fault instanceof WritError) || fault.code === 'ATTESTATION_MALFORMED') throw fault;
    throw refusal('/', String(fault.detail.expected), fault.detail.found);
  }
}

/** Reasons why `writ verify` refuses a statement that is well-formed: its verdict is no, or a clock differs. */
const signable: readonly unknown[] = ['policy-deny', 'revoked', 'not-yet'];

function requirePredicate(statement: AnyStatement, bytes: Uint8Array): void {
  try {
    judgePredicate(statement, Buffer.from(bytes), [], Number.POSITIVE_INFINITY);
  } catch (fault) {
    if (!(fault instanceof WritError) || fault.code === 'ATTESTATION_MALFORMED') throw fault;
    const {
      reason,
      member = '/predicate',
      expected = 'what `writ verify` accepts',
      found = reason,
    } = fault.detail;
    if (!signable.includes(reason)) throw refusal(String(member), [expected].flat().join(', '), found);
  }
}

function refusal(path: string, expected: string, found: unknown): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `that is no statement to sign: expected ${expected} at \`${path}\`, found \`${String(found).slice(0, 200)}\``,
    detail: { path, expected, found: String(found).slice(0, 200) },
  });
}
