/* Verifies the source repository and ref that a certificate names. */
import { type CertifiedSource, readCertifiedSource } from './certificate-claims.ts';
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
