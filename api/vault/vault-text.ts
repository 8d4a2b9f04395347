import { toFields } from '../../core/base/parse-fields.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { isSecretName } from './secret-name.ts';

/** Form of what a vault holds, before it is encrypted. */
const format = 'urn:writ:vault:v1';
/** Octets of all names and values of one vault. */
export const maxVaultBytes = 40 * 1024;
/** Characters of one value. */
export const maxValueLength = 16 * 1024;

export type Secrets = ReadonlyMap<string, string>;

export function formatSecrets(secrets: Secrets): string {
  const sorted = [...secrets].sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify({ format, env: Object.fromEntries(sorted) })}\n`;
}

/** Throws what says why it is none, and nothing of what stands in it. */
export function parseSecrets(bytes: Uint8Array): Secrets {
  const { value } = parseStrictJson(bytes, { maxBytes: 2 * maxVaultBytes, maxDepth: 2 });
  const fields = toFields(value, 'a vault', ['format', 'env']);
  if (fields.format !== format) throw new TypeError('its form is another one');
  return new Map(
    Object.entries(toFields(fields.env, 'names with values')).map(([name, secret]) => {
      if (!isSecretName(name)) throw new TypeError('a name in it is none');
      if (typeof secret !== 'string' || whyNoSecret(secret) !== undefined)
        throw new TypeError('a value in it is none');
      return [name, secret];
    }),
  );
}

/** Why a text can be no secret: an environment could not hold it, or nothing would be found by it. */
export function whyNoSecret(text: string): string | undefined {
  if (text.trim() === '') return 'it is empty';
  if (text.includes('\0')) return 'it holds a null character';
  return text.length > maxValueLength ? `it has more than ${maxValueLength} characters` : undefined;
}
