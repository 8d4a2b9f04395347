import { parse as parseTomlText, TomlError } from 'smol-toml';

/** Most bytes of one manifest or lockfile. */
export const maxFileBytes = 64 * 1024 * 1024;
const maxDepth = 100;

/** A value, or why there is none; a reason never quotes the file, which may hold anything. */
export type Content<Value> = { readonly value: Value } | { readonly reason: string };

export type Table = Readonly<Record<string, unknown>>;

/** UTF-8 text without its byte order mark. */
export function textContent(bytes: Uint8Array): Content<string> {
  if (bytes.length > maxFileBytes) return { reason: `it is larger than ${maxFileBytes} bytes` };
  try {
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { reason: 'it is not valid UTF-8' };
  }
}

/** A JSON object as package managers read it: of equal keys the last. */
export function jsonContent(text: string): Content<Table> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: 'it is not valid JSON' };
  }
  return isTable(value) ? { value } : { reason: 'it holds no object' };
}

/** A TOML document. */
export function tomlContent(text: string): Content<Table> {
  try {
    return { value: parseTomlText(text, { maxDepth, unsafeKeyBehaviour: 'throw' }) };
  } catch (fault) {
    if (fault instanceof TomlError) return { reason: `it is not valid TOML (line ${fault.line})` };
    return { reason: 'it is not valid TOML' };
  }
}

/** Narrows to an object that is no list. */
export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` as an object; anything else is an empty one. */
export function tableOf(value: unknown): Table {
  return isTable(value) ? value : {};
}

/** Own entries of an object; none of anything else. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isTable(value) ? Object.entries(value) : [];
}

/** `value` as a list; anything else is an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string of at most 4,096 characters without control characters; anything else is empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= 4096 && !/\p{Cc}/u.test(value) ? value : '';
}
