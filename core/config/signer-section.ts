import type { TableReader } from './table-reader.ts';

/** `[signer] key`: where the signing key is kept; `default` is the user's own key, made on first use. */
export type SignerKey =
  | { readonly form: 'default' }
  /** Absolute, or below the home directory when it begins with `~/`. */
  | { readonly form: 'file'; readonly path: string }
  /** Name of the environment variable that holds the PEM. */
  | { readonly form: 'env'; readonly name: string }
  /** SSH agent; without a fingerprint, its only suitable key. */
  | { readonly form: 'agent'; readonly fingerprint: string | undefined };

export interface SignerConfig {
  readonly key: SignerKey;
}

/** Reads `[signer]`. A key file inside the repository is refused: whoever can read the repository could sign. */
export function readSignerSection(reader: TableReader): SignerConfig {
  const text = reader.has('key') ? reader.text('key', '') : '';
  reader.end();
  if (text === '') return { key: { form: 'default' } };
  const key = parseSignerKey(text);
  if (typeof key !== 'string') return { key };
  reader.refuse(reader.at('key'), key);
  return { key: { form: 'default' } };
}

function parseSignerKey(text: string): SignerKey | string {
  const colon = text.indexOf(':');
  const form = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? '' : text.slice(colon + 1);
  if (form === 'file') {
    const settled = /^(?:~\/|\/)/.test(rest) && !rest.split('/').includes('..');
    return settled
      ? { form, path: rest }
      : 'expected `file:` and an absolute path or one that begins with `~/`';
  }
  if (form === 'env') {
    return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(rest)
      ? { form, name: rest }
      : 'expected `env:` and the name of an environment variable';
  }
  if (form === 'agent') {
    if (colon < 0) return { form, fingerprint: undefined };
    return /^SHA256:[A-Za-z0-9+/]{43}$/.test(rest)
      ? { form, fingerprint: rest }
      : 'expected `agent`, or `agent:` and a fingerprint `SHA256:…`';
  }
  // The value is not repeated: someone may have pasted the key itself.
  return 'expected `file:PATH`, `env:NAME` or `agent[:SHA256:…]`';
}
