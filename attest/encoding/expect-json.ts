/* Reads members of untrusted JSON and base64; each refusal names the place. */
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';

/**
 * Strict base64 (RFC 4648, 4 and 5): one alphabet, canonical padding bits, no white space. Text of the
 * URL-safe alphabet may leave its padding out. `undefined` for anything else.
 */
export function parseBase64(text: string): Buffer | undefined {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') === text) return bytes;
  }
  if (/^[A-Za-z0-9_-]*={0,2}$/.test(text) && /[_-]/.test(text)) {
    const bytes = Buffer.from(text, 'base64url');
    const bare = bytes.toString('base64url');
    const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
    if (text === bare || text === padded) return bytes;
  }
  return undefined;
}

/** Standard base64 of exactly `length` octets, else `undefined`. */
export function parseBase64Octets(text: string, length: number): Buffer | undefined {
  const bytes = parseBase64(text);
  return bytes?.length === length && !/[_-]/.test(text) ? bytes : undefined;
}

/**
 * Base64 as any tool writes it (protobuf JSON, DSSE): one of both alphabets, padded or not, canonical bits, no white
 * space.
 */
function parseAnyBase64(text: string): Buffer | undefined {
  const isPadded = text.endsWith('=') || text.length % 4 === 0;
  return parseBase64(isPadded ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '='));
}

/** Members of a parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses strict JSON with an object at the top, at most 32 levels deep. Throws ATTESTATION_MALFORMED. */
export function parseJsonObject(bytes: Uint8Array, maxBytes: number): JsonObject {
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED', maxBytes, maxDepth: 32 });
  return expectObject(value, '');
}

/** An object; with `known`, one without any other member. `path` names it in the refusal. */
export function expectObject(value: unknown, path: string, known?: readonly string[]): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformedAt(path, 'an object');
  for (const key of Object.keys(value)) {
    if (known !== undefined && !known.includes(key)) throw malformedAt(`${path}/${key}`, 'no such member');
  }
  return value as JsonObject;
}

/** An array of at most `max` items. */
export function expectArray(value: unknown, path: string, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > max)
    throw malformedAt(path, `an array of at most ${max} items`);
  return value;
}

/** A string that matches `form`. */
export function expectText(value: unknown, path: string, form: RegExp = /^/): string {
  if (typeof value !== 'string' || !form.test(value))
    throw malformedAt(path, `text of the form \`${form.source}\``);
  return value;
}

/** Strict base64 of at least one octet. */
export function expectBase64(value: unknown, path: string): Buffer {
  const bytes = parseBase64(expectText(value, path));
  if (bytes === undefined || bytes.length === 0) throw malformedAt(path, 'base64');
  return bytes;
}

/** {@link parseAnyBase64} of at least one octet. */
export function expectAnyBase64(value: unknown, path: string): Buffer {
  const bytes = parseAnyBase64(expectText(value, path));
  if (bytes === undefined || bytes.length === 0) throw malformedAt(path, 'base64');
  return bytes;
}

/** ATTESTATION_MALFORMED that names the place in a document. */
export function malformedAt(path: string, expected: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${expected} at \`${path === '' ? '/' : path}\``,
    detail: { path, expected },
  });
}

/** 64-bit numbers of a log entry: protobuf JSON writes them as text and accepts numbers too. */
const longs: readonly string[] = ['logIndex', 'treeSize', 'integratedTime'];

/**
 * Reads a document of protobuf JSON as any writer of it may have written it: strict JSON up to `maxBytes` and 32
 * levels, a member that is `null` being unset, a 64-bit number of a log entry being text. ATTESTATION_MALFORMED.
 */
export function readProtoJson(bytes: Uint8Array, maxBytes: number): JsonObject {
  return toPlainProto(parseJsonObject(bytes, maxBytes));
}

/** The same document with what is `null` left out and 64-bit numbers of log entries as text. */
export function toPlainProto(document: JsonObject): JsonObject {
  return plain(document) as JsonObject;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      longs.includes(name) && Number.isSafeInteger(member) ? String(member) : plain(member),
    ]),
  );
}
