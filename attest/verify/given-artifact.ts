/** Hashes that an artifact is told from others by. */
export const artifactHashes = ['sha256', 'sha384', 'sha512'] as const;

export type ArtifactHash = (typeof artifactHashes)[number];

/** What a user says that an attestation has to be about (`--artifact`): digests, hex, all of them where its bytes are at hand. */
export interface GivenArtifact extends Readonly<Partial<Record<ArtifactHash, string>>> {
  /** As it was named. */
  readonly name: string;
  /** SHA-256 of what its signature covers, hex, where it is a bundle or an envelope itself. */
  readonly signed?: string;
  /** Its bytes, where more than a digest was given. INPUT_TOO_LARGE. */
  readonly read?: () => Promise<Buffer>;
}

/** The digests that are known of it, as `algorithm:hex`. */
export function digestsOf(artifact: GivenArtifact): readonly string[] {
  return artifactHashes.flatMap((hash) => (artifact[hash] === undefined ? [] : `${hash}:${artifact[hash]}`));
}
