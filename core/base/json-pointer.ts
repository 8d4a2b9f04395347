/** Appends a token to a JSON Pointer (RFC 6901, 3): `~` and `/` are escaped. */
export function appendPointer(pointer: string, token: string | number): string {
  const text = String(token);
  return `${pointer}/${/[~/]/.test(text) ? text.replaceAll('~', '~0').replaceAll('/', '~1') : text}`;
}

/** Builds a pointer from tokens; no token is the whole document, `''`. */
export function toPointer(tokens: readonly (string | number)[]): string {
  return tokens.reduce<string>(appendPointer, '');
}

/** Splits a pointer into tokens. Returns `undefined` if the text is not a JSON Pointer. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Removes the last token of a pointer; the whole document is its own parent. */
export function parentPointer(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));
}

/** Returns the value at a pointer, or `undefined` if there is none. Own properties only. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of parsePointer(pointer) ?? ['']) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
    value = (value as Record<string, unknown>)[token];
  }
  return value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
