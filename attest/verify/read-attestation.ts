import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { inTotoPayloadType } from '../encoding/dsse.ts';
import { expectArray, expectObject, expectText, type JsonObject } from '../encoding/expect-json.ts';
import { equivalenceType } from '../statement/approval-equivalence.ts';
import { decisionType } from '../statement/decision-statement.ts';
import { readDigestSet } from '../statement/digest-forms.ts';
import { manifestType } from '../statement/evidence-manifest.ts';
import { revocationType } from '../statement/revocation.ts';
import { buildType, slsaProvenanceType } from '../statement/slsa-provenance.ts';
import { statementType } from '../statement/statement.ts';
import { testResultType } from '../statement/test-result.ts';
import { summaryType } from '../statement/verification-summary.ts';
import { readDecision } from './predicates/read-decision.ts';
import { readEquivalence } from './predicates/read-equivalence.ts';
import { readManifest } from './predicates/read-manifest.ts';
import {
  npmPublishType,
  pypiPublishType,
  readNpmPublish,
  readPypiPublish,
} from './predicates/read-publish.ts';
import { isUnset } from './predicates/read-resource.ts';
import { readSlsaProvenance } from './predicates/read-slsa-provenance.ts';
import { readSlsaProvenanceV02, slsaProvenanceV02Type } from './predicates/read-slsa-provenance-v02.ts';
import { readSummary, type SummaryClaims } from './predicates/read-summary.ts';
import { readTestResult } from './predicates/read-test-result.ts';
import { requireNames } from './predicates/require-names.ts';
import { requirePast } from './predicates/require-past.ts';
import { type ProvenanceClaims, readProvenance } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';

/** One subject: what it is called, and its digests by algorithm. */
export interface Subject {
  readonly name: string;
  readonly digest: ReadonlyMap<string, string>;
}

/** A statement by anyone, whose payload was verified. */
export interface AnyStatement {
  readonly predicateType: string;
  readonly subjects: readonly Subject[];
  readonly predicate: JsonObject;
}

const maxPayloadBytes = 16 * 1024 * 1024;
/** Nested objects and arrays. The parser recurses, and its stack holds four times as many. */
const maxPayloadDepth = 1000;
const statementTypes: readonly unknown[] = [statementType, 'https://in-toto.io/Statement/v0.1'];

/** Predicates that are read and judged here; of others only signature and subject are. */
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
 * The type of every in-toto statement, or one that names its predicate, which nobody relies on (in-toto Envelope v1).
 */
const payloadForm = /^application\/vnd\.in-toto(?:\.[\w.-]{1,100})?\+json$/;

/**
 * Reads an in-toto statement out of a payload: JSON as any producer writes it ({@link parsePayload}), `_type` v1 or
 * v0.1, at least one subject, each with well-formed digests. For another payload or statement type, of which nothing
 * can be said here, VERIFY_NOTHING (`wrong-type`); `wrong-subject` where there is none, else ATTESTATION_MALFORMED.
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
export function parsePayload(payload: Uint8Array): JsonObject {
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

/** What a predicate was found to say. */
export interface JudgedPredicate {
  /** Of a provenance of ours. */
  readonly ours?: ProvenanceClaims;
  readonly summary?: SummaryClaims;
}

/**
 * Reads a predicate of a known type whole, as its type demands, and demands that it speaks for its subjects: one of a
 * type that was not asked for is `wrong-type`, a verdict other than yes is `policy-deny`, a revocation is `revoked`, a
 * time that has not come is `not-yet`.
 */
export function judgePredicate(
  statement: AnyStatement,
  payload: Uint8Array,
  asked: readonly string[],
  nowMs: number,
): JudgedPredicate {
  const { predicateType, predicate } = statement;
  if (asked.length > 0 && !asked.includes(predicateType))
    throw refuted('wrong-type', { member: 'predicateType', expected: asked, found: predicateType });
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

/** The contract is named on two sides of a provenance of ours; a run's is compared with the document itself. */
function requireOneSpec(claims: ProvenanceClaims): ProvenanceClaims {
  const { specDigest: expected = 'none', specDependency: found = 'none' } = claims;
  if (found !== expected) throw refuted('mismatch', { where: 'dependency intentspec', expected, found });
  return claims;
}

function clipped(value: unknown): string {
  return String(value).slice(0, 200);
}
