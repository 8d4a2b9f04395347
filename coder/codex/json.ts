/** An object of JSON, nothing of which has been looked at. */
export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A part that is an object; an empty one else. */
export function partOf(value: unknown, name: string): Json {
  const part = isJson(value) ? value[name] : undefined;
  return isJson(part) ? part : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
