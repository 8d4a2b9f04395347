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
