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

/**
 * Every artifact given is a subject; without one, a subject is a commit that is at hand. A subject is an artifact where
 * both have a digest by SHA-256, SHA-384 or SHA-512 and no such digest differs. Refuted only where each subject could
 * be compared.
 */
export async function requireSubject(
  subjects: readonly Subject[],
  artifacts: readonly GivenArtifact[],
  findCommit: ((ids: readonly string[]) => Promise<string | undefined>) | undefined,
): Promise<{ readonly commit: string } | { readonly artifact: readonly string[] }> {
  const found = subjects.slice(0, 20).flatMap(describeSubject);
  for (const artifact of artifacts) {
    const answers = subjects.map((subject) => compare(subject, artifact));
    if (answers.includes('same')) continue;
    const expected = digestsOf(artifact);
    if (answers.includes('unknown'))
      throw unavailable('missing', { expected: ['a digest that can be compared', ...expected], found });
    throw refuted('wrong-subject', { expected, found });
  }
  if (artifacts.length > 0) return { artifact: artifacts.map(({ name }) => name) };
  // Some name a commit by the hash alone (gitsign).
  const ids = subjects.flatMap(({ digest }) => digest.get('gitCommit') ?? digest.get('sha1') ?? []);
  const commit = ids.length === 0 ? undefined : await findCommit?.(ids);
  if (commit !== undefined) return { commit };
  throw unavailable('missing', { expected: 'what it is about (`--artifact FILE`)', found });
}

function compare({ digest }: Subject, artifact: GivenArtifact): 'same' | 'other' | 'unknown' {
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
