import { artifactHashes, digestsOf, type GivenArtifact } from './given-artifact.ts';
import type { Subject } from './read-attestation.ts';
import { refuted, unavailable } from './report.ts';

/** Digests of what is no file, so that no file can be it. */
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
  /** Ids of commits that are asked for: one of them must be a subject. */
  readonly commits?: readonly string[];
  /** Returns the commit that is checked out in the repository at hand; absent where there is no repository. */
  readonly headCommit?: () => Promise<string | undefined>;
  /** Returns the first of these ids that is a commit of the repository at hand; refuses one with other bytes. */
  readonly findCommit?: (ids: readonly string[]) => Promise<string | undefined>;
}

/** Ids of the commits that the subjects name. Some name a commit by the hash alone (gitsign). */
export function commitsOf(subjects: readonly Subject[]): readonly string[] {
  return subjects.flatMap(({ digest }) => digest.get('gitCommit') ?? digest.get('sha1') ?? []);
}

/**
 * Every artifact given is a subject, and one of the commits asked for; without either, a subject is the commit that is
 * checked out. A subject is an artifact where both have a digest by SHA-256, SHA-384 or SHA-512 and no such digest
 * differs. Refuted only where each subject could be compared.
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
