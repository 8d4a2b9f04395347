/** What a user says that an attestation has to be about (`--artifact`). */
export interface GivenArtifact {
  /** As it was named. */
  readonly name: string;
  /** SHA-256 of its bytes, hex. */
  readonly sha256: string;
  /** SHA-256 of what its signature covers, hex, where it is a bundle or an envelope itself. */
  readonly signed?: string;
  /** Its bytes, where more than a digest was given. INPUT_TOO_LARGE. */
  readonly read?: () => Promise<Buffer>;
}
