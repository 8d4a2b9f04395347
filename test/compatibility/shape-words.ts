/**
 * Replaces the module that makes the shapes of stored objects, with the same exports: each shape is then its
 * description, where the real one is a check. `read-interfaces.ts` loads the tables of shapes with this in its place.
 */

/** A described shape: a word, or its parts. */
export type Words = string | { readonly [part: string]: Words };

export const text = 'text';
export const flag = 'true or false';
export const wholeNumber = 'whole number from 0';
export const decimal = 'number';
export const sha256Text = 'SHA-256 in hex';
export const gitObject = 'git object id';
export const uuid = 'UUIDv7';
export const time = 'RFC 3339 time';
export const anything = 'any JSON';

export function oneOf(...words: readonly string[]): Words {
  return words.toSorted().join(' | ');
}

export function orNull(inner: Words): Words {
  return typeof inner === 'string' ? `${inner}, or null` : { 'or null': inner };
}

export function listOf(inner: Words): Words {
  return { '[]': inner };
}

export function mapOf(inner: Words): Words {
  return { '[name]': inner };
}

/** A question mark follows the name of an optional field. */
export function fields(
  required: Readonly<Record<string, Words>>,
  optional: Readonly<Record<string, Words>> = {},
): Words {
  const marked = Object.entries(optional).map(([name, words]) => [`${name}?`, words] as const);
  return Object.fromEntries([...Object.entries(required), ...marked].sort(([a], [b]) => (a < b ? -1 : 1)));
}
