/** What is read of a vendor's JSON: a part of another type than expected is as good as absent. */
export type Json = Readonly<Record<string, unknown>>;

export function objectIn(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

/** An object, or one without anything. */
export function partsOf(value: unknown): Json {
  return objectIn(value) ?? {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text, or none at all. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count of tokens, from 0. */
export function countIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
