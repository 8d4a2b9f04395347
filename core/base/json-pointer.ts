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

const maxItems = 10_000;
const maxNameLength = 128;

/** An object from outside, before its fields are read. */
export type Fields = Readonly<Record<string, unknown>>;

/** A list of at most `most` entries, each in normal form. */
export function parseList<T>(
  answer: unknown,
  parseItem: (item: unknown) => T,
  most = maxItems,
): readonly T[] {
  if (!Array.isArray(answer)) throw new TypeError(`expected a list, got ${nameOf(answer)}`);
  if (answer.length > most) throw new RangeError(`expected at most ${most} entries, got ${answer.length}`);
  return Array.from(answer, (item) => parseItem(item));
}

/** The fields of an object, none but `known` ones. */
export function toFields(value: unknown, wanted: string, known?: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`expected ${wanted}, got ${nameOf(value)}`);
  }
  const unknown = known && Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw new TypeError(`expected ${wanted}, got the unknown field \`${unknown.slice(0, maxNameLength)}\``);
  return value as Fields;
}

/** A field that is text of so many characters. */
export function parseText(fields: Fields, field: string, maxLength: number, minLength = 1): string {
  const text = fields[field];
  if (typeof text !== 'string') throw new TypeError(`expected \`${field}\` to be text, got ${nameOf(text)}`);
  if (text.length < minLength || text.length > maxLength) {
    throw new RangeError(
      `expected \`${field}\` to have ${minLength} to ${maxLength} characters, got ${text.length}`,
    );
  }
  return text;
}

/** A field that is such text, or absent. */
export function parseOptionalText<K extends string>(
  fields: Fields,
  field: K,
  maxLength: number,
): { readonly [P in K]?: string } {
  if (fields[field] === undefined) return {};
  return { [field]: parseText(fields, field, maxLength) } as { readonly [P in K]: string };
}

/** A field that counts from 1, or is absent. */
export function parseOptionalCount<K extends string>(
  fields: Fields,
  field: K,
): { readonly [P in K]?: number } {
  const value = fields[field];
  if (value === undefined) return {};
  if (!isCount(value, 1)) throw new TypeError(`expected \`${field}\` to count from 1, got ${nameOf(value)}`);
  return { [field]: value } as { readonly [P in K]: number };
}

/** A field that is one of `words`. */
export function parseWord<W extends string>(fields: Fields, field: string, words: readonly W[]): W {
  const word = words.find((candidate) => candidate === fields[field]);
  if (word === undefined) {
    throw new TypeError(
      `expected \`${field}\` to be one of ${words.join(', ')}, got ${nameOf(fields[field])}`,
    );
  }
  return word;
}

/** A field that is a whole number from `least`. */
export function parseCount(fields: Fields, field: string, least: number): number {
  const value = fields[field];
  if (!isCount(value, least))
    throw new TypeError(`expected \`${field}\` to count from ${least}, got ${nameOf(value)}`);
  return value;
}

export function isCount(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** The kind of a value, without printing what may be large or secret. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'number' || typeof value === 'boolean' || value === undefined
    ? `\`${value}\``
    : typeof value;
}
