import { inTotoPayloadType } from '../dsse.ts';
import { expectArray, expectObject, expectText, type JsonObject, parseJsonObject } from '../expect-json.ts';
import { decisionType } from '../statement/decision-statement.ts';
import { manifestType } from '../statement/evidence-manifest.ts';
import { revocationType } from '../statement/revocation.ts';
import { buildType, slsaProvenanceType } from '../statement/slsa-provenance.ts';
import { statementType } from '../statement/statement.ts';
import { testResultType } from '../statement/test-result.ts';
import { summaryType } from '../statement/verification-summary.ts';
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
const statementTypes: readonly unknown[] = [statementType, 'https://in-toto.io/Statement/v0.1'];

/** Predicates that are read and judged here; others count only where they are asked for by name. */
export const knownPredicates: readonly string[] = [
  slsaProvenanceType,
  summaryType,
  testResultType,
  decisionType,
  manifestType,
  revocationType,
];

/** The type of every in-toto statement, or one that names its predicate, which nobody relies on (in-toto Envelope v1). */
const payloadForm = /^application\/vnd\.in-toto(?:\.[\w.-]{1,100})?\+json$/;

/**
 * Reads an in-toto statement out of a payload: strict JSON, `_type` v1 or v0.1, at least one subject, each with well-formed digests. For another payload or
 * statement type, of which nothing can be said here, VERIFY_NOTHING (`wrong-type`); `wrong-subject` where there is none, else ATTESTATION_MALFORMED.
 */
export function readAttestation(payloadType: string, payload: Uint8Array): AnyStatement {
  if (!payloadForm.test(payloadType))
    throw unavailable('wrong-type', {
      member: 'payloadType',
      expected: inTotoPayloadType,
      found: payloadType,
    });
  const statement = parseJsonObject(payload, maxPayloadBytes);
  if (!statementTypes.includes(statement._type))
    throw unavailable('wrong-type', {
      member: '_type',
      expected: statementType,
      found: clipped(statement._type),
    });
  const subjects = expectArray(statement.subject, '/subject', 10_000).map(readSubject);
  if (subjects.length === 0) throw refuted('wrong-subject', { found: 'no subject' });
  return {
    predicateType: expectText(statement.predicateType, '/predicateType', /^[!-~]{1,512}$/),
    subjects,
    predicate: expectObject(statement.predicate ?? {}, '/predicate'),
  };
}

function readSubject(value: unknown, n: number): Subject {
  const at = `/subject/${n}`;
  const subject = expectObject(value, at);
  const digests = Object.entries(expectObject(subject.digest, `${at}/digest`)).map(
    ([algorithm, digest]) =>
      [algorithm, expectText(digest, `${at}/digest/${algorithm}`, /^[0-9a-f]{32,128}$/)] as const,
  );
  if (digests.length === 0) throw refuted('wrong-subject', { found: `subject ${n} has no digest` });
  return {
    name: subject.name === undefined ? '' : expectText(subject.name, `${at}/name`),
    digest: new Map(digests),
  };
}

/**
 * What the predicate says must speak for its subjects: one other than those asked for is refuted (`wrong-type`), one that is neither asked for nor read here is not judged
 * (VERIFY_NOTHING), a verdict other than yes is `policy-deny`, a revocation is `revoked`. Gives the claims of a provenance of ours.
 */
export function judgePredicate(
  { predicateType, predicate }: AnyStatement,
  payload: Uint8Array,
  asked: readonly string[],
): ProvenanceClaims | undefined {
  const accepted = asked.length > 0 ? asked : knownPredicates;
  if (!accepted.includes(predicateType)) {
    const told = { member: 'predicateType', expected: accepted, found: predicateType };
    throw asked.length > 0 ? refuted('wrong-type', told) : unavailable('wrong-type', told);
  }
  switch (predicateType) {
    case slsaProvenanceType: {
      const definition = expectObject(predicate.buildDefinition, '/predicate/buildDefinition');
      if (definition.buildType === buildType) return readProvenance(payload);
      expectText(definition.buildType, '/predicate/buildDefinition/buildType', /./);
      const details = expectObject(predicate.runDetails, '/predicate/runDetails');
      const builder = expectObject(details.builder, '/predicate/runDetails/builder');
      expectText(builder.id, '/predicate/runDetails/builder/id', /./);
      return undefined;
    }
    case summaryType:
      requireVerdict('verificationResult', predicate.verificationResult, ['PASSED']);
      return undefined;
    case testResultType:
      requireVerdict('result', predicate.result, ['PASSED', 'WARNED']);
      return undefined;
    case decisionType:
      requireVerdict('decision', predicate.decision, ['commit']);
      return undefined;
    case revocationType:
      throw refuted('revoked', { found: clipped(predicate.run_id) });
    default:
      return undefined;
  }
}

function requireVerdict(member: string, found: unknown, expected: readonly string[]): void {
  if (typeof found === 'string' && expected.includes(found)) return;
  throw refuted('policy-deny', { member, expected, found: clipped(found) });
}

function clipped(value: unknown): string {
  return String(value).slice(0, 200);
}
