import { plainLine, type ReportRefusal, reportBounds, textRefusal } from './test-report.ts';

/** A parsed document, or why it cannot be one. */
type ReadReportJson =
  | { readonly value: unknown; readonly refusal?: undefined }
  | { readonly value?: undefined; readonly refusal: ReportRefusal };

/**
 * Parses JSON after it counted nesting and values, so that a small file cannot fill the heap. Refused: encodings
 * except UTF-8, more than 64 MiB, 64 levels or 8,000,000 values, invalid or truncated JSON. An object with a
 * duplicate member is refused too, because readers disagree about which one counts.
 */
export function readReportJson(bytes: Uint8Array): ReadReportJson {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  const { refusal, isOpen, members } = structureOf(bytes);
  if (refusal) return { refusal };
  const text = new TextDecoder().decode(bytes);
  try {
    const value: unknown = JSON.parse(text);
    if (membersOf(value) === members) return { value };
    return { refusal: { reason: 'duplicate', message: 'an object names a member twice' } };
  } catch {
    // The parser's message would quote the content.
    return isOpen || text.trim() === ''
      ? { refusal: { reason: 'truncated', message: 'the JSON is cut off' } }
      : { refusal: { reason: 'malformed', message: `not JSON, it begins with \`${plainLine(text, 40)}\`` } };
  }
}

/** Members of every object in a value, as many as the text has unless one of them was named twice. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += membersOf(item);
    return count;
  }
  for (const item of Object.values(value)) count += 1 + membersOf(item);
  return count;
}

interface Structure {
  readonly refusal?: ReportRefusal;
  readonly isOpen: boolean;
  /** Colons outside of strings: one for each member that the text names. */
  readonly members: number;
}

/** Nesting and values over the bounds, and whether something that was opened is not closed. */
function structureOf(bytes: Uint8Array): Structure {
  let depth = 0;
  let members = 0;
  let tokens = 0;
  let at = 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x22) {
      at = stringEnd(bytes, at + 1);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      tokens += 1;
      if (depth > reportBounds.depth) {
        const message = `expected at most ${reportBounds.depth} levels of JSON`;
        return { refusal: { reason: 'too-deep', message }, isOpen: true, members };
      }
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === 0x2c) tokens += 1;
    else if (byte === 0x3a) members += 1;
  }
  const isOpen = depth > 0 || at > bytes.length;
  if (tokens <= reportBounds.jsonTokens) return { isOpen, members };
  const message = `expected at most ${reportBounds.jsonTokens} values, found ${tokens}`;
  return { refusal: { reason: 'too-large', message }, isOpen, members };
}

/** Where a string's closing quote is; the end of the bytes where there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === 0x5c) at += 1;
    else if (bytes[at] === 0x22) return at;
  }
  return bytes.length;
}

/** A JSON object out of a report. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value where it is an object, else one without fields. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, cut to 1,000 characters; `undefined` for anything else and for an empty one. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 1000) : undefined;
}

/** The name of a test, whole: names are compared; `undefined` for anything else and for an empty one. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A count; 0 for anything else. What a report claims of its failures goes through `claimedCount`. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

/** A time that is not negative, times `scale`; `undefined` for anything else. */
export function timeOf(value: unknown, scale = 1): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * scale : undefined;
}
