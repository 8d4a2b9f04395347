/* Artifacts that a user names, and their comparison with subjects and stored files. */
import { createHash } from 'node:crypto';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { Subject } from './read-attestation.ts';
import { refuted, unavailable, type VerifyCheck, type VerifyReport } from './report.ts';

/** Hashes that identify an artifact. */
export const artifactHashes = ['sha256', 'sha384', 'sha512'] as const;

export type ArtifactHash = (typeof artifactHashes)[number];

/**
 * The artifact that an attestation must be about (`--artifact`): digests in hex, and all of them if its bytes are
 * available.
 */
export interface GivenArtifact extends Readonly<Partial<Record<ArtifactHash, string>>> {
  /** As it was named. */
  readonly name: string;
  /** Instead of a digest by a hash, one by an algorithm that in-toto does not define; compared as text. */
  readonly named?: { readonly algorithm: string; readonly value: string };
  /** SHA-256 of what its signature covers, hex, where it is a bundle or an envelope itself. */
  readonly signed?: string;
  /** Its bytes, where more than a digest was given. INPUT_TOO_LARGE. */
  readonly read?: () => Promise<Buffer>;
  /** Its bytes as a stream, however many there are. */
  readonly open?: () => AsyncIterable<Buffer>;
}

/**
 * The artifacts, one that was given several times (as a file, and by digests of it) being one: those that have a digest
 * in common and none that differs. What is known of each is put together.
 */
export function distinctArtifacts(artifacts: readonly GivenArtifact[]): readonly GivenArtifact[] {
  const distinct: GivenArtifact[] = [];
  for (const artifact of artifacts) {
    const at = distinct.findIndex((one) => isSame(one, artifact));
    const known = distinct[at];
    if (known === undefined) distinct.push(artifact);
    else distinct[at] = { ...artifact, ...known };
  }
  return distinct;
}

function isSame(one: GivenArtifact, other: GivenArtifact): boolean {
  if (one.named || other.named)
    return one.named?.algorithm === other.named?.algorithm && one.named?.value === other.named?.value;
  const common = artifactHashes.filter((hash) => one[hash] !== undefined && other[hash] !== undefined);
  return common.length > 0 && common.every((hash) => one[hash] === other[hash]);
}

/** The digests that are known of it, as `algorithm:hex`. */
export function digestsOf(artifact: GivenArtifact): readonly string[] {
  if (artifact.named) return [`${artifact.named.algorithm}:${artifact.named.value}`];
  return artifactHashes.flatMap((hash) => (artifact[hash] === undefined ? [] : `${hash}:${artifact[hash]}`));
}

/**
 * Finds artifacts by SHA-256, the only digest that a run records. An artifact that was given by another digest is
 * looked up among the stored files. `rest`: artifacts that match no stored file, so they cannot be checked.
 */
export async function findRunArtifacts(
  source: EvidenceSource,
  artifacts: readonly GivenArtifact[],
): Promise<{ readonly sha256: readonly string[]; readonly rest: readonly GivenArtifact[] }> {
  const known = artifacts.flatMap(({ sha256 }) => sha256 ?? []);
  const wanted = new Set(artifacts.filter(({ sha256 }) => sha256 === undefined));
  for (const [list, read] of [
    [source.listRun, source.readRun],
    [source.listContent, source.readContent],
  ] as const) {
    if (wanted.size === 0) break;
    for (const path of await list()) {
      const bytes = await read(path);
      if (bytes === undefined) continue;
      for (const artifact of wanted) {
        const isSame = artifactHashes.some(
          (hash) => artifact[hash] !== undefined && artifact[hash] === hexOf(hash, bytes),
        );
        if (!isSame) continue;
        wanted.delete(artifact);
        known.push(sha256Hex(bytes));
      }
    }
  }
  return { sha256: known, rest: [...wanted] };
}

function hexOf(hash: string, bytes: Uint8Array): string {
  return createHash(hash).update(bytes).digest('hex');
}

/** Adds to the report a check for each artifact that the run does not mention. */
export function withUnknownArtifacts(report: VerifyReport, rest: readonly GivenArtifact[]): VerifyReport {
  if (rest.length === 0) return report;
  const checks = rest.map(
    (artifact): VerifyCheck => ({
      id: `artifact:${digestsOf(artifact).join(' ')}`,
      status: 'missing',
      code: 'missing',
      detail: { expected: 'its digest by sha256, which is what a run records, or the file itself' },
    }),
  );
  return {
    ...report,
    verified: false,
    checks: [...report.checks, ...checks],
    expected: report.expected + rest.length,
  };
}

/** Digests of git objects, which never identify a file. */
const ofGit: readonly string[] = ['gitCommit', 'gitTree', 'gitTag', 'gitBlob'];

/** Returns the artifacts that a subject is, or may be where they have no digest in common. */
export function relatedArtifacts(
  subjects: readonly Subject[],
  artifacts: readonly GivenArtifact[],
): readonly GivenArtifact[] {
  return artifacts.filter((artifact) => subjects.some((subject) => compare(subject, artifact) !== 'other'));
}

/** What a subject must be. */
export interface SubjectDemands {
  readonly artifacts: readonly GivenArtifact[];
  /** Ids of the commits that the user named: one of them must be a subject. */
  readonly commits?: readonly string[];
  /** Returns the checked-out commit of the available repository; absent if there is no repository. */
  readonly headCommit?: () => Promise<string | undefined>;
  /**
   * Returns the first of these ids that is a commit of the available repository. Throws if its bytes do not match the
   * id.
   */
  readonly findCommit?: (ids: readonly string[]) => Promise<string | undefined>;
}

/** Ids of the commits that the subjects name. Some name a commit by the hash alone (gitsign). */
export function commitsOf(subjects: readonly Subject[]): readonly string[] {
  return subjects.flatMap(({ digest }) => digest.get('gitCommit') ?? digest.get('sha1') ?? []);
}

/**
 * Requires that every given artifact is a subject, and one of the named commits; without either, that the checked-out
 * commit is one. A subject is an artifact if both have a digest by SHA-256, SHA-384 or SHA-512 and no such digest
 * differs. Refuted only if each subject could be compared.
 */
export async function requireSubject(
  subjects: readonly Subject[],
  { artifacts, commits = [], headCommit, findCommit }: SubjectDemands,
): Promise<{ readonly commit?: string; readonly artifact?: readonly string[] }> {
  const found = subjects.slice(0, 20).flatMap(describeSubject);
  for (const artifact of artifacts) {
    const answers = subjects.map((subject) => compare(subject, artifact));
    if (answers.includes('same')) continue;
    const expected = digestsOf(artifact);
    if (answers.includes('unknown'))
      throw unavailable('missing', { expected: ['a digest that can be compared', ...expected], found });
    throw refuted('wrong-subject', { expected, found });
  }
  const artifact = artifacts.map(({ name }) => name);
  const ids = new Set(commitsOf(subjects));
  if (commits.length > 0) {
    const commit = commits.find((id) => ids.has(id));
    if (commit === undefined)
      throw refuted('wrong-subject', { expected: commits.map(toCommitDigest), found });
    await findCommit?.([commit]);
    return { commit, ...(artifact.length > 0 && { artifact }) };
  }
  if (artifact.length > 0) return { artifact };
  const head = ids.size === 0 ? undefined : await headCommit?.();
  const commit = head !== undefined && ids.has(head) ? await findCommit?.([head]) : undefined;
  if (commit !== undefined) return { commit };
  throw unavailable('missing', {
    expected:
      head === undefined
        ? 'what it is about (`--artifact FILE`)'
        : `the commit that is checked out (${head}), or the one that you ask for (\`--subject-commit COMMIT\`)`,
    found,
  });
}

function toCommitDigest(id: string): string {
  return `gitCommit:${id}`;
}

function compare({ digest }: Subject, artifact: GivenArtifact): 'same' | 'other' | 'unknown' {
  const { named } = artifact;
  if (named) {
    const found = digest.get(named.algorithm);
    if (found === undefined) return 'unknown';
    return found === named.value ? 'same' : 'other';
  }
  const common = artifactHashes.filter((hash) => digest.has(hash) && artifact[hash] !== undefined);
  if (common.length > 0)
    return common.every((hash) => digest.get(hash) === artifact[hash]) ? 'same' : 'other';
  return [...digest.keys()].every((hash) => ofGit.includes(hash)) ? 'other' : 'unknown';
}

/** Returns `NAME ALGORITHM:DIGEST` for each digest of a subject. */
export function describeSubject({ name, digest }: Subject): readonly string[] {
  return [...digest].map(([algorithm, value]) =>
    `${name === '' ? '' : `${name} `}${algorithm}:${value}`.slice(0, 400),
  );
}
