import type { SignerKey } from './sealing-config.ts';
import type { SealingPlace } from './sealing-place.ts';

/** Makes raw signatures with one key (slot `signer`). Never exposes the private key. */
export interface Signer {
  readonly algorithm: 'ecdsa-p256-sha256' | 'ed25519';
  /** Lower-case hex SHA-256 of the SubjectPublicKeyInfo DER: what a verifier pins. */
  readonly keyId: string;
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKeyPem: string;
  /** True for a throw-away key that no later verifier can have pinned. */
  readonly ephemeral: boolean;
  /** The certificate that binds the key to an identity, DER; asked after a signature was made. Absent for a managed key. */
  certificate?(): Uint8Array;
  /** ECDSA: ASN.1 DER signature over SHA-256 of `data`. Ed25519: pure EdDSA over `data`. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** Where keys come from (slot `signer`): one source per form of key. */
export interface SignerSource {
  /**
   * Opens or makes the key. Throws SIGNER_EPHEMERAL, SIGNER_UNSUPPORTED, KEY_INSECURE, KEY_UNUSABLE or SIGNER_FAILED; never falls back to
   * another key. `place` is what a key that others certify needs besides.
   */
  open(key: SignerKey, place?: SealingPlace): Promise<Signer>;
}
