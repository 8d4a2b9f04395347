/** `[signer] key` as its source read it: `form` names the source (slot `signer`), the rest is that source's own. */
export interface SignerKey {
  readonly form: string;
}

/** `[signer]`: which key signs, and what the sources of keys read beside it, each under a name of its own. */
export interface SignerConfig {
  readonly key: SignerKey;
  readonly [setting: string]: unknown;
}

/**
 * `[log]`: the public log, for contracts whose `transparencyLog.mode` is `public-log`, and where else the internal
 * ledger is kept.
 */
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
