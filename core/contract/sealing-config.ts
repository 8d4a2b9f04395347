/** `[signer] key`: where the signing key is kept; `default` is the user's own key, made on first use. */
export type SignerKey =
  | { readonly form: 'default' }
  /** PEM. Absolute, or below the home directory when it begins with `~/`. */
  | { readonly form: 'file'; readonly path: string }
  /** An OpenSSH private key without passphrase; path as for `file`. */
  | { readonly form: 'ssh'; readonly path: string }
  /** Name of the environment variable that holds the PEM. */
  | { readonly form: 'env'; readonly name: string }
  /** SSH agent: a key by fingerprint (`SHA256:…`) or comment; without either, its only suitable key. */
  | { readonly form: 'agent'; readonly wanted: string | undefined }
  /** A key of this run alone, certified by Fulcio for the identity in an OIDC token. */
  | { readonly form: 'keyless' };

export interface SignerConfig {
  readonly key: SignerKey;
  /** Where certificates come from; absent: as the signing config of `[log]` says. */
  readonly fulcioUrl?: string;
}

/** `[log]`: the public log, for contracts whose `transparencyLog.mode` is `public-log`, and where else the internal ledger is kept. */
export interface LogConfig {
  /** Git carries a copy of the internal ledger that follows each append. */
  readonly mirror?: 'git';
  /** The log and how it is spoken to; absent where a signing config says it, or nobody. */
  readonly service?: { readonly url: string; readonly api: 'v1' | 'v2' };
  /** Sigstore SigningConfig: a path in the tree of the policy commit. */
  readonly signingConfig?: string;
  /** Sigstore TrustedRoot that answers are checked against: a path in the tree of the policy commit. */
  readonly trustedRoot?: string;
}
