/* Canonical JSON (RFC 8785), SHA-256 digests and constant-time comparison. */
import { hash, timingSafeEqual } from 'node:crypto';
import { WritError } from './errors.ts';

/** Characters that a JSON string must escape, and lone surrogates, which it must not contain. */
const special = /["\\\u0000-\u001f\ud800-\udfff]/;
const maxDepth = 512;

/**
 * Returns the canonical form of RFC 8785: sorted keys, no white space, ECMAScript numbers. Refuses values that JSON
 * cannot represent: lone surrogates, non-finite numbers, `undefined`, functions, class instances and cycles.
 */
export function canonicalize(value: unknown): string {
  const parts: string[] = [];
  write(value, parts, 0);
  return parts.join('');
}

/** Lower-case hex SHA-256 over the canonical form in UTF-8. */
export function canonicalDigest(value: unknown): string {
  return sha256Hex(canonicalize(value));
}

/** Writes into parts that are joined once: a string grown by `+=` is slower to hash than to build. */
function write(value: unknown, parts: string[], depth: number): void {
  switch (typeof value) {
    case 'string':
      parts.push(quote(value));
      return;
    case 'number':
      if (!Number.isFinite(value)) throw refusal('a number that is not finite');
      parts.push(String(value));
      return;
    case 'boolean':
      parts.push(value ? 'true' : 'false');
      return;
    case 'object':
      if (depth >= maxDepth) throw refusal('a cycle, or more than 512 levels');
      if (value === null) parts.push('null');
      else if (Array.isArray(value)) writeArray(value, parts, depth);
      else writeObject(value, parts, depth);
      return;
    default:
      throw refusal(`a value of type ${typeof value}`);
  }
}

function quote(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw refusal('a lone surrogate');
  return JSON.stringify(text);
}

function writeArray(array: readonly unknown[], parts: string[], depth: number): void {
  parts.push('[');
  // By index, because `forEach` and `map` skip holes.
  for (let index = 0; index < array.length; index += 1) {
    if (index > 0) parts.push(',');
    write(array[index], parts, depth + 1);
  }
  parts.push(']');
}

/** Member by member: an object rebuilt in sorted order would put integer-like keys first, in numeric order. */
function writeObject(object: object, parts: string[], depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw refusal('an object that is not plain');
  const members = object as Readonly<Record<string, unknown>>;
  let before = '{';
  for (const key of Object.keys(members).sort()) {
    parts.push(before, quote(key), ':');
    write(members[key], parts, depth + 1);
    before = ',';
  }
  parts.push(before === '{' ? '{}' : '}');
}

function refusal(found: string): WritError {
  return new WritError('INTERNAL', {
    message: `expected a JSON value for the canonical form, found ${found}`,
    detail: { found },
  });
}

export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** Constant-time comparison of secrets. */
export function equalSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const left = Buffer.from(a as Uint8Array);
  const right = Buffer.from(b as Uint8Array);
  return left.length === right.length && timingSafeEqual(left, right);
}
