/** Hashes that an artifact is told from others by. */
export const artifactHashes = ['sha256', 'sha384', 'sha512'] as const;

export type ArtifactHash = (typeof artifactHashes)[number];

/**
 * What a user says that an attestation has to be about (`--artifact`): digests, hex, all of them where its bytes are at
 * hand.
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
