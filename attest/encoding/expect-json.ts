import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { parseAnyBase64, parseBase64 } from './base64.ts';

/** Members of a parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Strict JSON whose top is an object, at most 32 levels deep; ATTESTATION_MALFORMED. */
export function parseJsonObject(bytes: Uint8Array, maxBytes: number): JsonObject {
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED', maxBytes, maxDepth: 32 });
  return expectObject(value, '');
}

/** An object; with `known`, one without any other member. `path` names it in the refusal. */
export function expectObject(value: unknown, path: string, known?: readonly string[]): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refusal(path, 'an object');
  for (const key of Object.keys(value)) {
    if (known !== undefined && !known.includes(key)) throw refusal(`${path}/${key}`, 'no such member');
  }
  return value as JsonObject;
}

/** An array of at most `max` items. */
export function expectArray(value: unknown, path: string, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > max) throw refusal(path, `an array of at most ${max} items`);
  return value;
}

/** A string that matches `form`. */
export function expectText(value: unknown, path: string, form: RegExp = /^/): string {
  if (typeof value !== 'string' || !form.test(value))
    throw refusal(path, `text of the form \`${form.source}\``);
  return value;
}

/** Strict base64 of at least one octet. */
export function expectBase64(value: unknown, path: string): Buffer {
  const bytes = parseBase64(expectText(value, path));
  if (bytes === undefined || bytes.length === 0) throw refusal(path, 'base64');
  return bytes;
}

/** {@link parseAnyBase64} of at least one octet. */
export function expectAnyBase64(value: unknown, path: string): Buffer {
  const bytes = parseAnyBase64(expectText(value, path));
  if (bytes === undefined || bytes.length === 0) throw refusal(path, 'base64');
  return bytes;
}

/** A 64-bit number as protobuf JSON writes it, within the safe integers. */
export function expectInt64(value: unknown, path: string): number {
  const number = Number(expectText(value, path, /^(?:0|[1-9][0-9]{0,15})$/));
  if (!Number.isSafeInteger(number)) throw refusal(path, 'a number up to 2^53-1');
  return number;
}

function refusal(path: string, expected: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${expected} at \`${path === '' ? '/' : path}\``,
    detail: { path, expected },
  });
}
