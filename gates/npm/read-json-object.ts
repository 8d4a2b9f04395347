/** A JSON object out of the repository, or why it is none. */
export type ReadJson = { readonly value: Readonly<Record<string, unknown>> } | { readonly fault: string };

const maxBytes = 64 * 1024 * 1024;

/** Reads as npm does: UTF-8, a leading BOM allowed, the last of equal keys wins. */
export function readJsonObject(bytes: Uint8Array): ReadJson {
  if (bytes.length > maxBytes) return { fault: `it is larger than ${maxBytes} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value } : { fault: 'it holds no object' };
  } catch (thrown) {
    // The parser quotes the text, which may hold anything.
    return { fault: thrown instanceof SyntaxError ? 'it is not valid JSON' : 'it is not valid UTF-8' };
  }
}

/** Narrows to a plain object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own entries of an object field; nothing where the field is something else. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}
