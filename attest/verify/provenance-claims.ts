/* Reads writ's own provenance. */
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { type AttestedPlugin, pluginDependency } from '../../core/interfaces/sealing.ts';
import { modelWorkFault } from '../../store/record/model-work.ts';
import {
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { type LedgerKey, parseVkey } from '../log/note.ts';
import { builderId, buildType, slsaProvenanceType } from '../statement/run-statements.ts';
import { gitIdForm, sha256Form, statementType } from '../statement/statement.ts';
import { readSlsaProvenance, type SlsaProvenanceClaims } from './predicates/provenance.ts';
import { refuted } from './report.ts';

/** Claims of a signed provenance, as the verifier parsed them. */
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
  /** The digest of the spec among the dependencies. */
  readonly specDependency: string | undefined;
  /** Base and policy commit; absent on an unborn branch. */
  readonly base: string | undefined;
  readonly policy: string | undefined;
  /** The branch that it was the tip of, by the signer's word; absent where it is the base itself. */
  readonly policyRef: string | undefined;
  /** Present where that is neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef: string | null | undefined;
  /** Where the base is from; absent where there is none. */
  readonly repository: string | undefined;
  /** SHA-256 of the configuration that was used; absent where there was none. */
  readonly config: string | undefined;
  /** Plugins of others that were listed for the run, in the order of the configuration. */
  readonly plugins: readonly AttestedPlugin[];
  /** What models did; empty where the statement names none. */
  readonly models: readonly ModelWork[];
  /** The log that the signer vouches for. */
  readonly ledger: LedgerKey | undefined;
}

const externalParameters: readonly string[] = ['intentspec_id', 'intentspec_digest'];
const maxPayloadBytes = 4 * 1024 * 1024;
const refName = /^refs\/[^\p{Cc} ]{1,1024}$/u;

/**
 * Parses a verified payload. `wrong-type`: another statement, predicate, build or builder type. `wrong-subject`:
 * anything but exactly one commit, one tree and one patchset. `unknown-parameter`: an external parameter that writ
 * does not define. Other faults are ATTESTATION_MALFORMED.
 */
export function readProvenance(payload: Uint8Array): ProvenanceClaims {
  const statement = parseJsonObject(payload, maxPayloadBytes);
  requireType('_type', statement._type, statementType);
  requireType('predicateType', statement.predicateType, slsaProvenanceType);
  const predicate = expectObject(statement.predicate, '/predicate');
  const said = readSlsaProvenance(predicate);
  requireType('buildType', said.buildType, buildType);
  requireType('builder.id', said.builderId, builderId);
  requireKnown(said.external);
  const { intentspec_digest: digest } = said.external;
  const { writ_ledger: ledger, scheduler_version: version, writ_sandbox: sandbox } = said.internal;
  expectText(version, '/internalParameters/scheduler_version', /^[!-~]{1,128}$/);
  expectText(sandbox, '/internalParameters/writ_sandbox', /^[!-~]{1,128}$/);
  const { writ_policy_ref: policyRef, writ_default_ref: defaultRef } = said.internal;
  const { startedAtMs, finishedAtMs } = said;
  if (startedAtMs === undefined || finishedAtMs === undefined)
    throw refuted('malformed', { member: '/metadata', expected: 'when it began and when it ended' });
  const specDigest =
    digest === undefined
      ? undefined
      : expectText(digest, '/externalParameters/intentspec_digest', sha256Form);
  return {
    ...readSubjects(expectArray(statement.subject, '/subject', 100)),
    runId: expectText(said.invocationId, '/metadata/invocationId', /^.{1,128}$/),
    specId: expectText(
      said.external.intentspec_id,
      '/externalParameters/intentspec_id',
      /^[^\p{Cc}]{1,512}$/u,
    ),
    specDigest,
    startedAtMs,
    finishedAtMs,
    byproducts: readByproducts(said.byproducts),
    ...readDependencies(said.dependencies),
    plugins: readPlugins(said.dependencies),
    models: readModels(said.internal.writ_model_work),
    policyRef:
      policyRef === undefined
        ? undefined
        : expectText(policyRef, '/internalParameters/writ_policy_ref', refName),
    defaultRef:
      defaultRef === undefined || defaultRef === null
        ? defaultRef
        : expectText(defaultRef, '/internalParameters/writ_default_ref', refName),
    ledger:
      ledger === undefined ? undefined : parseVkey(expectText(ledger, '/internalParameters/writ_ledger')),
  };
}

/** SLSA v1 wants verifiers to refuse a parameter they do not know: it may change what the others mean. */
function requireKnown(external: JsonObject): void {
  const unknown = Object.keys(external).filter((name) => !externalParameters.includes(name));
  if (unknown.length > 0)
    throw refuted('unknown-parameter', { expected: externalParameters, found: unknown.slice(0, 20) });
}

/** Base, policy, configuration and spec out of the resolved dependencies: each at most once, in its form. */
function readDependencies(
  dependencies: SlsaProvenanceClaims['dependencies'],
): Pick<ProvenanceClaims, 'base' | 'policy' | 'config' | 'repository' | 'specDependency'> {
  const named = (wanted: string, algorithm: string, form: RegExp): string | undefined => {
    // A repository file may have any of these names, but it has no digest of a commit.
    const [found, ...more] = dependencies.flatMap(({ name, digest }) =>
      name === wanted ? (digest.get(algorithm) ?? []) : [],
    );
    if (more.length > 0) throw refuted('malformed', { found: `resolved dependency \`${wanted}\` twice` });
    return found && expectText(found, `/resolvedDependencies/${wanted}/digest/${algorithm}`, form);
  };
  const base = named('base', 'gitCommit', gitIdForm);
  return {
    base,
    policy: named('policy', 'gitCommit', gitIdForm),
    config: named('.writ/config.toml', 'sha256', sha256Form),
    specDependency: named('intentspec', 'sha256', sha256Form),
    repository: base && readRepository(dependencies, base),
  };
}

/** Each plugin with its digest. `brings` and `given` are empty if the statement does not list them. */
function readPlugins(dependencies: SlsaProvenanceClaims['dependencies']): readonly AttestedPlugin[] {
  return dependencies.flatMap(({ name = '', uri = '', digest, annotations = {} }) => {
    if (!name.startsWith(pluginDependency.name) || !uri.startsWith(pluginDependency.uri)) return [];
    const words = (key: string): readonly string[] =>
      annotations[key] === undefined
        ? []
        : expectArray(annotations[key], `/resolvedDependencies/${name}/annotations/${key}`, 1000).map(
            (word) =>
              expectText(word, `/resolvedDependencies/${name}/annotations/${key}`, /^[^\p{Cc}]{1,512}$/u),
          );
    return [
      {
        name: name.slice(pluginDependency.name.length),
        uri,
        sha256: expectText(digest.get('sha256'), `/resolvedDependencies/${name}/digest/sha256`, sha256Form),
        brings: words('brings'),
        given: words('given'),
      },
    ];
  });
}

/** `malformed` for a block of another shape. */
function readModels(block: unknown): readonly ModelWork[] {
  if (block === undefined) return [];
  const fault = modelWorkFault(block);
  if (fault === undefined) return block as readonly ModelWork[];
  throw refuted('malformed', { member: '/internalParameters/writ_model_work', found: fault });
}

/** A base names the repository that it is of. */
function readRepository(dependencies: SlsaProvenanceClaims['dependencies'], base: string): string {
  const uri = dependencies.find(({ name, digest }) => name === 'base' && digest.has('gitCommit'))?.uri ?? '';
  if (uri.endsWith(`@${base}`) && uri.length > base.length + 1) return uri.slice(0, -base.length - 1);
  throw refuted('malformed', { member: 'resolved dependency base', expected: `…@${base}`, found: uri });
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
  // There are three digests under three names, so each name that is found appears once.
  const only = (algorithm: string, form: RegExp): string => {
    const [, value] = digests.flat().find(([name]) => name === algorithm) ?? [];
    if (typeof value === 'string' && form.test(value)) return value;
    throw refuted('wrong-subject', { expected: `one subject by ${algorithm}` });
  };
  return {
    commit: only('gitCommit', gitIdForm),
    tree: only('gitTree', gitIdForm),
    patchset: only('sha256', sha256Form),
  };
}

function readByproducts(values: SlsaProvenanceClaims['byproducts']): ProvenanceClaims['byproducts'] {
  const names = new Set<string>();
  return values.map(({ name, digest }, n) => {
    if (name === undefined)
      throw refuted('malformed', {
        member: `/byproducts/${n}/name`,
        expected: 'the path that it is stored under',
      });
    if (names.has(name)) throw refuted('malformed', { found: `byproduct \`${name}\` twice` });
    names.add(name);
    return { name, sha256: expectText(digest.get('sha256'), `/byproducts/${n}/digest/sha256`, sha256Form) };
  });
}

/** `wrong-type` for anything but `expected`. */
export function requireType(member: string, found: unknown, expected: string): void {
  if (found === expected) return;
  throw refuted('wrong-type', { member, expected, found: String(found).slice(0, 200) });
}
