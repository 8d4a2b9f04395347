import { isUtf8 } from 'node:buffer';

/** A JSON object out of bytes. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Largest document that is parsed. */
const maxBytes = 64 * 1024 * 1024;

/** The parsed document, or in words what the bytes are instead. */
export function readJson(bytes: Uint8Array): { readonly value: unknown } | { readonly found: string } {
  if (bytes.length === 0) return { found: 'an empty file' };
  if (bytes.length > maxBytes)
    return { found: `${bytes.length} bytes, more than the ${maxBytes} that are read` };
  if (!isUtf8(bytes)) return { found: 'bytes that are not UTF-8' };
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch {
    // The parser's message would quote the content.
    return { found: 'text that is not JSON' };
  }
}

/** Narrows to a JSON object: no array, no `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Narrows to a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
