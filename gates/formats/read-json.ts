import { readReportJson } from '../reports/read-report-json.ts';
import { reportBounds } from '../reports/test-report.ts';

/** A JSON object out of bytes. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The parsed document, or in words what the bytes are instead. Bounds: `reportBounds`. */
export function readJson(bytes: Uint8Array): { readonly value: unknown } | { readonly found: string } {
  if (bytes.length === 0) return { found: 'an empty file' };
  if (bytes.length > reportBounds.bytes)
    return { found: `${bytes.length} bytes, more than the ${reportBounds.bytes} that are read` };
  const { value, refusal } = readReportJson(bytes);
  if (!refusal) return { value };
  return { found: words[refusal.reason] ?? `JSON of another size: ${refusal.message}` };
}

const words: Readonly<Record<string, string>> = {
  encoding: 'bytes that are not UTF-8',
  malformed: 'text that is not JSON',
  duplicate: 'JSON in which an object names a member twice',
  truncated: 'JSON that is cut off',
};

/** Narrows to a JSON object: no array, no `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none of what is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Narrows to a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
