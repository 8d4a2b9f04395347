/* Verifies the source repository and ref that a certificate names. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { gitIdForm } from '../statement/statement.ts';
import { type CertifiedSource, readCertifiedSource } from './certificate-claims.ts';
import type { EvidenceSource, GitCommit } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import type { AnyStatement } from './read-attestation.ts';
import { type CheckList, refuted, unavailable } from './report.ts';

/** What a certificate must name as the source (`--source-repository`, `--source-ref`), letter by letter. */
export interface SourceDemands {
  readonly repository?: string;
  readonly ref?: string;
}

/**
 * Ids of the checks about the source: those that are demanded, and the repository wherever a certificate (DER) names
 * one.
 */
export function sourceChecks({ repository, ref }: SourceDemands = {}, der?: Uint8Array): readonly string[] {
  const isNamed = der !== undefined && readCertifiedSource(der).repository !== undefined;
  return [
    ...(repository !== undefined || isNamed ? ['source-repository'] : []),
    ...(ref === undefined ? [] : ['source-ref']),
  ];
}

/**
 * Verifies the source that the certificate authority wrote into a certificate. The signer controls the predicate and
 * not the certificate: a predicate that names another repository is refused, whether or not a source is demanded.
 * `source` is what the verified certificate names, absent for a signature by a key.
 */
export async function verifySource(
  list: CheckList,
  expected: readonly string[],
  { repository, ref }: SourceDemands = {},
  source?: CertifiedSource,
  statement?: AnyStatement,
): Promise<void> {
  if (expected.includes('source-repository'))
    await list.run(
      'source-repository',
      () => {
        const certified = requireNamed('repository', repository, source?.repository);
        const other =
          statement &&
          repositoriesIn(statement, certified).find(([, found]) => found !== toRepository(certified));
        if (other) {
          const [member, found] = other;
          throw refuted('mismatch', { member, expected: certified, found: found.slice(0, 400) });
        }
        return { repository: certified, ...source };
      },
      (found) => found,
    );
  if (expected.includes('source-ref'))
    await list.run('source-ref', () => {
      requireNamed('ref', ref, source?.ref);
    });
}

function requireNamed(what: string, wanted: string | undefined, found: string | undefined): string {
  if (found === undefined)
    throw unavailable('missing', {
      ...(wanted === undefined ? {} : { expected: wanted }),
      found: `no certificate that names a source ${what}`,
    });
  if (wanted !== undefined && found !== wanted) throw refuted('mismatch', { expected: wanted, found });
  return found;
}

/**
 * The repositories that a SLSA provenance names as what was built, by member: `workflow.repository` (GitHub), `source`
 * (GitLab, slsa-github-generator) and `configSource` (SLSA 0.2). A URI that is neither `git+…` nor on the host of the
 * certified repository may be a file, and is left aside.
 */
function repositoriesIn(
  { predicate }: AnyStatement,
  certified: string,
): readonly (readonly [member: string, repository: string])[] {
  const parameters = memberOf(memberOf(predicate, 'buildDefinition'), 'externalParameters');
  const workflow = memberOf(memberOf(parameters, 'workflow'), 'repository');
  const source = memberOf(parameters, 'source');
  const config = memberOf(memberOf(predicate, 'invocation'), 'configSource');
  const uris: readonly (readonly [string, unknown])[] = [
    ['/externalParameters/source', memberOf(source, 'uri') ?? source],
    ['/invocation/configSource/uri', memberOf(config, 'uri')],
  ];
  return [
    ...(typeof workflow === 'string'
      ? [['/externalParameters/workflow/repository', toRepository(workflow)] as const]
      : []),
    ...uris.flatMap(([member, uri]) =>
      typeof uri === 'string' && (uri.startsWith('git+') || hostOf(uri) === hostOf(certified))
        ? [[member, toRepository(uri)] as const]
        : [],
    ),
  ];
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** The form of certificates: `git+https://host/path.git@refs/heads/main` becomes `https://host/path`. */
function toRepository(uri: string): string {
  const plain = uri.startsWith('git+') ? uri.slice(4) : uri;
  const path = plain.indexOf('/', plain.indexOf('://') + 3);
  const at = path < 0 ? -1 : plain.indexOf('@', path);
  return (at < 0 ? plain : plain.slice(0, at)).replace(/\/$/, '').replace(/\.git$/, '');
}

/**
 * Whether two texts name one repository in different spellings: ssh or `http:`, another case, a slash or `.git` at the
 * end. Forges ignore all of these; a demand is still compared letter by letter, and this only finds a hint.
 */
export function isSameRepository(one: string, other: string): boolean {
  return toSpelling(one) === toSpelling(other);
}

function toSpelling(uri: string): string {
  const plain = uri.slice(0, 2048).replace(/^git\+/, '');
  const [, host, path = ''] =
    /^[a-z]+:\/\/(?:[^@/]{0,200}@)?([^:/?#]+)(?::\d{1,5})?\/([^?#]*)/i.exec(plain) ??
    /^(?:[^@:/]{1,200}@)?([^@:/]+):([^?#]*)/.exec(plain) ??
    [];
  const name = path.replace(/\/{1,10}$/, '').replace(/\.git$/i, '');
  return host === undefined ? plain : `${host}/${name}`.toLowerCase();
}

function hostOf(uri: string): string | undefined {
  return URL.parse(uri)?.host;
}

/* Verifies which policy a sealed change was evaluated by. */

const inputFile = 'decision-input.json';
const configFile = '.writ/config.toml';
const maxInputBytes = 64 * 1024 * 1024;

/** The policy that a sealed change was evaluated by, as its evidence shows. */
interface VerifiedPolicy {
  /** `null`: sealed on an unborn branch, which has no policy. */
  readonly commit: string | null;
  /** `parent`: the parent of the sealed commit. `stated`: the tip of another branch, by the signer's word. */
  readonly how: 'parent' | 'stated' | 'none';
  /** The branch that it was the tip of, by the signer's word. */
  readonly ref?: string;
  /** Present where that was neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef?: string | null;
  /**
   * Authors of the commits below the change that the policy's history lacks, if available. These commits were not
   * evaluated here.
   */
  readonly beneath?: readonly string[];
}

/**
 * Requires that the sealed commit has the one parent that the provenance names, and that provenance and decision input
 * name the same policy commit. Where the repository is available, its configuration at that commit is the one that was
 * used.
 */
export async function verifyPolicy(
  source: EvidenceSource,
  commit: GitCommit | undefined,
  claims: ProvenanceClaims,
): Promise<VerifiedPolicy> {
  const parents = commit?.parents ?? [];
  const stated = claims.base === undefined ? [] : [claims.base];
  if (parents.length !== stated.length || parents[0] !== stated[0])
    throw refuted('wrong-subject', { member: 'base', expected: claims.base ?? 'no parent', found: parents });
  const policy = claims.policy ?? null;
  if (policy === null && claims.base !== undefined)
    throw unavailable('missing', { member: 'policy', expected: 'the commit whose policy applied' });
  const input = await source.readRun(inputFile);
  if (input !== undefined && claims.byproducts.some(({ name }) => name === inputFile)) {
    const { policyCommit, policyRef, defaultRef } = parseJsonObject(input, maxInputBytes);
    const decided = policyCommit === null ? null : expectText(policyCommit, '/policyCommit', gitIdForm);
    if (decided !== policy)
      throw refuted('mismatch', { member: 'policy', expected: policy ?? 'none', found: decided ?? 'none' });
    requireSame('policyRef', claims.policyRef, policyRef);
    requireSame('defaultRef', claims.defaultRef, defaultRef);
  }
  if (policy === null) return { commit: null, how: 'none' };
  const config = await source.readAt?.(policy, configFile);
  if (config) {
    const found = config.bytes && sha256Hex(config.bytes);
    if (found !== claims.config)
      throw refuted('mismatch', {
        path: configFile,
        expected: claims.config ?? 'none',
        found: found ?? 'none',
      });
  }
  const beneath =
    claims.base === undefined || policy === claims.base
      ? []
      : ((await source.listPeople?.(policy, claims.base)) ?? []);
  return {
    commit: policy,
    how: policy === claims.base ? 'parent' : 'stated',
    ...(beneath.length === 0 ? {} : { beneath: [...new Set(beneath)] }),
    ...(claims.policyRef === undefined ? {} : { ref: claims.policyRef }),
    ...(claims.defaultRef === undefined ? {} : { defaultRef: claims.defaultRef }),
  };
}

/** Provenance and decision name one branch. */
function requireSame(member: string, signed: string | null | undefined, decided: unknown): void {
  if (signed !== decided)
    throw refuted('mismatch', {
      member,
      expected: String(signed ?? 'none'),
      found: String(decided ?? 'none').slice(0, 200),
    });
}

/** Id of the check that a demand adds. */
export const policyDemandId = 'policy-branch';

/** A verifier's demand on the policy (`--policy`). */
export interface PolicyDemand {
  /** As the user wrote it. */
  readonly name: string;
  /** True if the commit belongs to that branch; `undefined` if it is not available. */
  holds(commit: string): Promise<boolean | undefined>;
  /** Whether its history holds a commit; `undefined` where that is unknown. */
  reaches(commit: string): Promise<boolean | undefined>;
}

/**
 * Requires that the policy commit is one of the demanded branch, so that neither spec nor signer chose another. The
 * base must be in that branch too: its policy evaluated no other commits.
 */
export async function demandPolicy(
  { name, holds, reaches }: PolicyDemand,
  claims: ProvenanceClaims,
): Promise<void> {
  const found = claims.policy ?? 'none';
  const held = claims.policy === undefined ? false : await holds(claims.policy);
  if (held === undefined) throw unavailable('missing', { expected: name, found });
  if (!held) throw refuted('mismatch', { member: 'policy', expected: name, found });
  if (claims.base !== undefined && (await reaches(claims.base)) === false)
    throw refuted('mismatch', { member: 'base', expected: `a commit of ${name}`, found: claims.base });
}
