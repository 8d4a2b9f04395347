/** `[signer] key` as its source read it: `form` names the source (slot `signer`), the rest is that source's own. */
export interface SignerKey {
  readonly form: string;
}

/** `[signer]`: which key signs, and what the sources of keys read beside it, each under a name of its own. */
export interface SignerConfig {
  readonly key: SignerKey;
  readonly [setting: string]: unknown;
}

/** `[log]` as each log read it, by the name of the log (slot `log`): its own, and nobody else's to read. */
export type LogConfig = Readonly<Record<string, unknown>>;
