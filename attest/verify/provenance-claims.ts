import { expectArray, expectObject, expectText, type JsonObject, parseJsonObject } from '../expect-json.ts';
import { type LedgerKey, parseVkey } from '../log/ledger-key.ts';
import { builderId, buildType, slsaProvenanceType } from '../statement/slsa-provenance.ts';
import { statementType } from '../statement/statement.ts';
import { refuted } from './report.ts';

/** What a signed provenance says, read by the verifier. */
export interface ProvenanceClaims {
  readonly commit: string;
  readonly tree: string;
  readonly patchset: string;
  readonly runId: string;
  readonly specId: string;
  /** Absent where the spec's bindings do not embed it. */
  readonly specDigest: string | undefined;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly byproducts: readonly { readonly name: string; readonly sha256: string }[];
  /** Base and policy commit; absent on an unborn branch. */
  readonly base: string | undefined;
  readonly policy: string | undefined;
  /** SHA-256 of the configuration that was used; absent where there was none. */
  readonly config: string | undefined;
  /** The log that the signer vouches for. */
  readonly ledger: LedgerKey | undefined;
}

const externalParameters: readonly string[] = ['intentspec_id', 'intentspec_digest'];
const maxPayloadBytes = 4 * 1024 * 1024;
const sha256 = /^[0-9a-f]{64}$/;
const moment = /^\d{4}-\d{2}-\d{2}T[0-9:.]+Z$/;
const gitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads a verified payload. Another statement, predicate, build or builder type is `wrong-type`; subjects other than exactly one commit, one
 * tree and one patchset are `wrong-subject`; an external parameter beyond ours is `unknown-parameter`; the rest is ATTESTATION_MALFORMED.
 */
export function readProvenance(payload: Uint8Array): ProvenanceClaims {
  const statement = parseJsonObject(payload, maxPayloadBytes);
  requireType('_type', statement._type, statementType);
  requireType('predicateType', statement.predicateType, slsaProvenanceType);
  const predicate = expectObject(statement.predicate, '/predicate');
  const definition = expectObject(predicate.buildDefinition, '/predicate/buildDefinition');
  const details = expectObject(predicate.runDetails, '/predicate/runDetails');
  const builder = expectObject(details.builder, '/predicate/runDetails/builder');
  requireType('buildType', definition.buildType, buildType);
  requireType('builder.id', builder.id, builderId);
  const external = readExternalParameters(definition.externalParameters);
  const internal = expectObject(definition.internalParameters, '/internalParameters');
  const twice = Object.keys(external).filter((name) => Object.hasOwn(internal, name));
  if (twice.length > 0) throw refuted('malformed', { found: twice });
  const metadata = expectObject(details.metadata, '/metadata');
  const { intentspec_digest: digest } = external;
  const { writ_ledger: ledger } = internal;
  return {
    ...readSubjects(expectArray(statement.subject, '/subject', 100)),
    runId: expectText(metadata.invocationId, '/metadata/invocationId', /^.{1,128}$/),
    specId: expectText(external.intentspec_id, '/externalParameters/intentspec_id'),
    specDigest:
      digest === undefined ? undefined : expectText(digest, '/externalParameters/intentspec_digest', sha256),
    startedAtMs: expectMoment(metadata.startedOn, '/metadata/startedOn'),
    finishedAtMs: expectMoment(metadata.finishedOn, '/metadata/finishedOn'),
    byproducts: readByproducts(expectArray(details.byproducts, '/byproducts', 100_000)),
    ...readGround(
      definition.resolvedDependencies === undefined
        ? []
        : expectArray(definition.resolvedDependencies, '/resolvedDependencies', 100_000),
    ),
    ledger:
      ledger === undefined ? undefined : parseVkey(expectText(ledger, '/internalParameters/writ_ledger')),
  };
}

/** Epoch milliseconds of a time that there is: nothing is before or after one that there is not. */
function expectMoment(value: unknown, at: string): number {
  const ms = Date.parse(expectText(value, at, moment));
  if (Number.isFinite(ms)) return ms;
  throw refuted('malformed', { member: at, found: String(value).slice(0, 200) });
}

/** SLSA v1 wants verifiers to refuse a parameter they do not know: it may change what the others mean. */
function readExternalParameters(value: unknown): JsonObject {
  const external = expectObject(value, '/externalParameters');
  const unknown = Object.keys(external).filter((name) => !externalParameters.includes(name));
  if (unknown.length === 0) return external;
  throw refuted('unknown-parameter', { expected: externalParameters, found: unknown.slice(0, 20) });
}

/** The three digests that every statement about a sealed change is about; others are `wrong-subject`. */
export function readSubjects(
  subjects: readonly unknown[],
): Pick<ProvenanceClaims, 'commit' | 'tree' | 'patchset'> {
  const digests = subjects.map((subject, n) => {
    const { digest } = expectObject(subject, `/subject/${n}`);
    return Object.entries(expectObject(digest, `/subject/${n}/digest`));
  });
  if (digests.length !== 3 || digests.some((digest) => digest.length !== 1)) {
    throw refuted('wrong-subject', {
      expected: 'three subjects with one digest each',
      found: digests.length,
    });
  }
  // Three digests under three names: each name found stands exactly once.
  const only = (algorithm: string, form: RegExp): string => {
    const [, value] = digests.flat().find(([name]) => name === algorithm) ?? [];
    if (typeof value === 'string' && form.test(value)) return value;
    throw refuted('wrong-subject', { expected: `one subject by ${algorithm}` });
  };
  return { commit: only('gitCommit', gitId), tree: only('gitTree', gitId), patchset: only('sha256', sha256) };
}

/** What the run stood on, out of the resolved dependencies: each of the three at most once. */
function readGround(values: readonly unknown[]): Pick<ProvenanceClaims, 'base' | 'policy' | 'config'> {
  const named = (wanted: string, algorithm: string, form: RegExp): string | undefined => {
    const found = values.flatMap((one, n) => {
      const { name, digest } = expectObject(one, `/resolvedDependencies/${n}`);
      const at = `/resolvedDependencies/${n}/digest`;
      const value = expectObject(digest, at)[algorithm];
      // A file of the repository may have any name, but is no commit.
      return name === wanted && value !== undefined ? [expectText(value, `${at}/${algorithm}`, form)] : [];
    });
    if (found.length > 1) throw refuted('malformed', { found: `resolved dependency \`${wanted}\` twice` });
    return found[0];
  };
  return {
    base: named('base', 'gitCommit', gitId),
    policy: named('policy', 'gitCommit', gitId),
    config: named('.writ/config.toml', 'sha256', sha256),
  };
}

function readByproducts(values: readonly unknown[]): ProvenanceClaims['byproducts'] {
  const names = new Set<string>();
  return values.map((value, n) => {
    const byproduct: JsonObject = expectObject(value, `/byproducts/${n}`);
    const name = expectText(byproduct.name, `/byproducts/${n}/name`, /^[^\p{Cc}]{1,4096}$/u);
    if (names.has(name)) throw refuted('malformed', { found: `byproduct \`${name}\` twice` });
    names.add(name);
    const digest = expectObject(byproduct.digest, `/byproducts/${n}/digest`);
    return { name, sha256: expectText(digest.sha256, `/byproducts/${n}/digest/sha256`, sha256) };
  });
}

/** `wrong-type` for anything but `expected`. */
export function requireType(member: string, found: unknown, expected: string): void {
  if (found === expected) return;
  throw refuted('wrong-type', { member, expected, found: String(found).slice(0, 200) });
}
