/* Reads in-toto statements of any tool, and selects the reader of their predicate. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { inTotoPayloadType } from '../encoding/dsse.ts';
import { expectArray, expectObject, expectText, type JsonObject } from '../encoding/expect-json.ts';
import {
  buildType,
  decisionType,
  equivalenceType,
  manifestType,
  revocationType,
  slsaProvenanceType,
  summaryType,
  testResultType,
} from '../statement/run-statements.ts';
import { readDigestSet, statementType } from '../statement/statement.ts';
import { isUnset, requireNames, requirePast } from './predicates/members.ts';
import {
  npmPublishType,
  pypiPublishType,
  readNpmPublish,
  readPypiPublish,
  readSlsaProvenance,
  readSlsaProvenanceV02,
  slsaProvenanceV02Type,
} from './predicates/provenance.ts';
import { readDecision, readEquivalence, readManifest, readTestResult } from './predicates/run-statements.ts';
import { readSummary, type SummaryClaims } from './predicates/summary.ts';
import { type ProvenanceClaims, readProvenance } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';

/** One subject: what it is called, and its digests by algorithm. */
export interface Subject {
  readonly name: string;
  readonly digest: ReadonlyMap<string, string>;
}

/** A third-party statement with a verified payload. */
export interface AnyStatement {
  readonly predicateType: string;
  readonly subjects: readonly Subject[];
  readonly predicate: JsonObject;
}

const maxPayloadBytes = 16 * 1024 * 1024;
/** Nested objects and arrays. The parser recurses, and its stack holds four times as many. */
const maxPayloadDepth = 1000;
const statementTypes: readonly unknown[] = [statementType, 'https://in-toto.io/Statement/v0.1'];

/** Predicates that are read here; of others only signature and subject are verified. */
export const knownPredicates: readonly string[] = [
  slsaProvenanceType,
  summaryType,
  testResultType,
  decisionType,
  manifestType,
  revocationType,
  npmPublishType,
  pypiPublishType,
  slsaProvenanceV02Type,
  equivalenceType,
];

/**
 * The payload type of every in-toto statement, or one that names its predicate (in-toto Envelope v1). No check relies
 * on that predicate name.
 */
const payloadForm = /^application\/vnd\.in-toto(?:\.[\w.-]{1,100})?\+json$/;

/**
 * Parses an in-toto statement from a payload: JSON as any producer writes it ({@link parsePayload}), `_type` v1 or
 * v0.1, at least one subject, each with well-formed digests.
 *
 * For an unsupported payload or statement type, throws VERIFY_NOTHING (`wrong-type`). Without a subject it is
 * `wrong-subject`, else ATTESTATION_MALFORMED.
 */
export function readAttestation(payloadType: string, payload: Uint8Array): AnyStatement {
  if (!payloadForm.test(payloadType))
    throw unavailable('wrong-type', {
      member: 'payloadType',
      expected: inTotoPayloadType,
      found: payloadType,
    });
  const statement = parsePayload(payload);
  if (!statementTypes.includes(statement._type))
    throw unavailable('wrong-type', {
      member: '_type',
      expected: statementType,
      found: clipped(statement._type),
    });
  const subjects = expectArray(statement.subject, '/subject', maxPayloadBytes).map(readSubject);
  if (subjects.length === 0) throw refuted('wrong-subject', { found: 'no subject' });
  const read: AnyStatement = {
    predicateType: expectText(statement.predicateType, '/predicateType', /^[!-~]{1,512}$/),
    subjects,
    predicate: expectObject(statement.predicate ?? {}, '/predicate'),
  };
  requireNames(statement, '/', ['subject', 'predicateType', 'predicate']);
  return read;
}

/**
 * Parses strict JSON, but rounds numbers that a double cannot hold: a producer may write 64-bit integers, which other
 * verifiers accept. What is larger or deeper than is read here is VERIFY_NOTHING (`unsupported`).
 */
function parsePayload(payload: Uint8Array): JsonObject {
  try {
    const { value } = parseStrictJson(payload, {
      code: 'ATTESTATION_MALFORMED',
      maxBytes: maxPayloadBytes,
      maxDepth: maxPayloadDepth,
      roundsNumbers: true,
    });
    return expectObject(value, '');
  } catch (fault) {
    if (!isWritError(fault) || !['too-deep', 'too-large'].includes(String(fault.detail.reason))) throw fault;
    throw unavailable('unsupported', {
      expected: `at most ${maxPayloadBytes} octets and ${maxPayloadDepth} nested objects and arrays`,
      found: 'more',
    });
  }
}

function readSubject(value: unknown, n: number): Subject {
  const at = `/subject/${n}`;
  const subject = expectObject(value, at);
  const digest = readDigestSet(subject.digest, `${at}/digest`);
  if (digest.size === 0) throw refuted('wrong-subject', { found: `subject ${n} has no digest` });
  return { name: isUnset(subject.name) ? '' : expectText(subject.name, `${at}/name`), digest };
}

/** The parsed claims of a predicate. */
export interface ReadPredicate {
  /** Of a provenance of ours. */
  readonly ours?: ProvenanceClaims;
  readonly summary?: SummaryClaims;
}

/**
 * Reads a predicate of a known type whole and requires that it speaks for its subjects: a type that the user did not
 * name is `wrong-type`, a negative verdict `policy-deny`, a revocation `revoked`, a future time `not-yet`.
 */
export function readPredicate(
  statement: AnyStatement,
  payload: Uint8Array,
  wanted: readonly string[],
  nowMs: number,
): ReadPredicate {
  const { predicateType, predicate } = statement;
  if (wanted.length > 0 && !wanted.includes(predicateType))
    throw refuted('wrong-type', { member: 'predicateType', expected: wanted, found: predicateType });
  switch (predicateType) {
    case slsaProvenanceType: {
      const { buildType: found, startedAtMs, finishedAtMs } = readSlsaProvenance(predicate);
      requirePast({ startedOn: startedAtMs, finishedOn: finishedAtMs }, nowMs);
      return found === buildType ? { ours: requireOneSpec(readProvenance(payload)) } : {};
    }
    case slsaProvenanceV02Type: {
      const { startedAtMs, finishedAtMs } = readSlsaProvenanceV02(predicate);
      requirePast({ buildStartedOn: startedAtMs, buildFinishedOn: finishedAtMs }, nowMs);
      return {};
    }
    case summaryType: {
      const summary = readSummary(predicate);
      requirePast({ timeVerified: summary.verifiedAtMs }, nowMs);
      return { summary };
    }
    case testResultType: {
      if (predicate.result === 'FAILED')
        throw refuted('policy-deny', { member: 'result', expected: ['PASSED', 'WARNED'], found: 'FAILED' });
      readTestResult(predicate);
      return {};
    }
    case decisionType:
      readDecision(predicate);
      return {};
    case manifestType:
      readManifest(predicate);
      return {};
    case equivalenceType:
      readEquivalence(predicate);
      return {};
    case npmPublishType:
      readNpmPublish(predicate, statement.subjects);
      return {};
    case pypiPublishType:
      readPypiPublish(predicate);
      return {};
    case revocationType:
      throw refuted('revoked', { found: clipped(predicate.run_id) });
    default:
      return {};
  }
}

/** A writ provenance names the spec twice, and both must match. For a run, the document itself is compared too. */
function requireOneSpec(claims: ProvenanceClaims): ProvenanceClaims {
  const { specDigest: expected = 'none', specDependency: found = 'none' } = claims;
  if (found !== expected) throw refuted('mismatch', { where: 'dependency intentspec', expected, found });
  return claims;
}

function clipped(value: unknown): string {
  return String(value).slice(0, 200);
}

/**
 * Parses a statement strictly before signing: in-toto Statement v1, its four members only, and at least one subject.
 * Digests must have their algorithm's length. `writ verify` must not report the predicate as malformed or
 * unsupported.
 *
 * Any other statement is ATTESTATION_MALFORMED, and the message quotes the fault.
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

/** Reasons why `writ verify` refuses a well-formed statement: a negative verdict, or a clock difference. */
const signable: readonly unknown[] = ['policy-deny', 'revoked', 'not-yet'];

function requirePredicate(statement: AnyStatement, bytes: Uint8Array): void {
  try {
    readPredicate(statement, Buffer.from(bytes), [], Number.POSITIVE_INFINITY);
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
