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
  /**
   * The certificate that binds the key to an identity, DER; asked after a signature was made. Absent for a managed key.
   */
  certificate?(): Uint8Array;
  /** ECDSA: ASN.1 DER signature over SHA-256 of `data`. Ed25519: pure EdDSA over `data`. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** A further key of `[signer]` that belongs to one source. */
export interface SignerSetting {
  /** As it is written: `fulcio_url`. */
  readonly key: string;
  /** As the configuration holds it. */
  readonly name: string;
  /** In words what was expected; the value is never repeated. */
  parse(text: string): { readonly value: unknown } | { readonly expected: string };
  /** Why it is refused beside a key of another source. */
  readonly misplaced: string;
}

/** How `[signer]` asks for keys of one source. */
export interface SignerForm<Key extends SignerKey = SignerKey> {
  /**
   * How such a key is written, for messages: `file:PATH`. Absent for the source that is asked where no key is
   * configured.
   */
  readonly usage?: string;
  readonly settings?: readonly SignerSetting[];
  /**
   * Reads what stands behind the form and its colon; no `rest` where there is no colon. In words what was expected,
   * never with the value: someone may have pasted the key itself. `undefined` where it is no key of this source.
   */
  parse(rest: string | undefined): Key | { readonly expected: string } | undefined;
}

/** Where keys come from (slot `signer`): one source per form of key. */
export interface SignerSource<Key extends SignerKey = SignerKey> extends SignerForm<Key> {
  /**
   * Opens or makes the key. Throws SIGNER_EPHEMERAL, SIGNER_UNSUPPORTED, KEY_INSECURE, KEY_UNUSABLE or SIGNER_FAILED;
   * never falls back to another key. `place` is what a key that others certify needs besides.
   */
  open(key: Key, place?: SealingPlace): Promise<Signer>;
}
