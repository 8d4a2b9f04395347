/** Measured times: with a fraction, or said to be one. What a person writes down is a round number. */
const measured = /\bduration_ms(?:: ?| )\d{1,16}(?:\.\d{1,16})?|\b\d{1,16}\.\d{1,16} ?m?s\b/g;

/** A JSON value without the times that commands took: no two runs of one test suite take the same. */
export function withoutTimes(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(measured, '[time]');
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, withoutTimes(inside)]));
}
