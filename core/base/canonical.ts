import { sha256Hex } from './digest.ts';
import { WritError } from './errors.ts';

/** What needs an escape in a JSON string, or must not stand in one at all. */
const special = /["\\\u0000-\u001f\ud800-\udfff]/;
const maxDepth = 512;

/**
 * The canonical form of RFC 8785: sorted keys, no white space, ECMAScript numbers. Refuses what JSON cannot say:
 * lone surrogates, non-finite numbers, `undefined`, functions, class instances, cycles.
 */
export function canonicalize(value: unknown): string {
  return write(value, 0);
}

/** Lower-case hex SHA-256 over the canonical form in UTF-8. */
export function canonicalDigest(value: unknown): string {
  return sha256Hex(write(value, 0));
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      if (!Number.isFinite(value)) throw refusal('a number that is not finite');
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= maxDepth) throw refusal('a cycle, or more than 512 levels');
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
    default:
      throw refusal(`a value of type ${typeof value}`);
  }
}

function writeString(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw refusal('a lone surrogate');
  return JSON.stringify(text);
}

function writeArray(array: readonly unknown[], depth: number): string {
  if (array.length === 0) return '[]';
  let text = `[${write(array[0], depth + 1)}`;
  for (let index = 1; index < array.length; index += 1) text += `,${write(array[index], depth + 1)}`;
  return `${text}]`;
}

/** By concatenation: an object rebuilt in sorted order would put integer-like keys first, in numeric order. */
function writeObject(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw refusal('an object that is not plain');
  const members = object as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    text += `${text === '' ? '{' : ','}${writeString(key)}:${write(members[key], depth + 1)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function refusal(found: string): WritError {
  return new WritError('INTERNAL', {
    message: `expected a JSON value for the canonical form, found ${found}`,
    detail: { found },
  });
}
