import { parseList, toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { isSecretName } from './secret-name.ts';

/** Form of what a vault holds, before it is encrypted. */
const format = 'urn:writ:vault:v1';
/** Octets of all names and values of one vault. */
export const maxVaultBytes = 40 * 1024;
/** Scopes of one secret. */
export const maxScopes = 32;
/** Characters of one value. */
export const maxValueLength = 16 * 1024;

export interface Secret {
  readonly value: string;
  /** What of a contract's `security.secrets.allowedScopes` gives it to checks; none: it is given to nobody. */
  readonly scopes: readonly string[];
}

export type Secrets = ReadonlyMap<string, Secret>;

export function formatSecrets(secrets: Secrets): string {
  const sorted = [...secrets].sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify({ format, env: Object.fromEntries(sorted) })}\n`;
}

/** Throws what says why it is none, and nothing of what stands in it. */
export function parseSecrets(bytes: Uint8Array): Secrets {
  const { value: read } = parseStrictJson(bytes, { maxBytes: 2 * maxVaultBytes, maxDepth: 4 });
  const fields = toFields(read, 'a vault', ['format', 'env']);
  if (fields.format !== format) throw new TypeError('its form is another one');
  return new Map(
    Object.entries(toFields(fields.env, 'names with values')).map(([name, secret]) => {
      if (!isSecretName(name)) throw new TypeError('a name in it is none');
      const { value, scopes } = toFields(secret, 'a value with scopes', ['value', 'scopes']);
      if (typeof value !== 'string' || whyNoSecret(value) !== undefined)
        throw new TypeError('a value in it is none');
      return [name, { value, scopes: parseList(scopes, parseScope, maxScopes) }];
    }),
  );
}

function parseScope(scope: unknown): string {
  if (typeof scope === 'string' && isScope(scope)) return scope;
  throw new TypeError('a scope in it is none');
}

/** Printable, without spaces, as a contract can name it. */
export function isScope(text: string): boolean {
  return /^[\x21-\x7e]{1,128}$/.test(text);
}

/** Why a text can be no secret: an environment could not hold it, or nothing would be found by it. */
export function whyNoSecret(text: string): string | undefined {
  if (text.trim() === '') return 'it is empty';
  if (text.includes('\0')) return 'it holds a null character';
  return text.length > maxValueLength ? `it has more than ${maxValueLength} characters` : undefined;
}
