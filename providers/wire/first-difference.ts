import { appendPointer } from '../../core/base/json-pointer.ts';
import { objectIn } from './json-parts.ts';

/** Where two JSON values differ first, and how; `undefined` for what one of them has not. */
export interface Difference {
  readonly pointer: string;
  readonly expected: string;
  readonly found: string;
}

/** In canonical order: names sorted, lists from their start. Nothing where the values are equal. */
export function firstDifference(expected: unknown, found: unknown, pointer = ''): Difference | undefined {
  if (Array.isArray(expected) && Array.isArray(found)) {
    for (let at = 0; at < Math.max(expected.length, found.length); at += 1) {
      const inside = memberDifference(expected, found, at, pointer);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }
  const [wanted, given] = [objectIn(expected), objectIn(found)];
  if (wanted !== undefined && given !== undefined) {
    for (const name of [...new Set([...Object.keys(wanted), ...Object.keys(given)])].sort()) {
      const inside = memberDifference(wanted, given, name, pointer);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }
  if (expected === found) return undefined;
  const from = typeof expected === 'string' && typeof found === 'string' ? firstOdd(expected, found) : 0;
  return { pointer, expected: clipped(expected, from), found: clipped(found, from) };
}

function memberDifference(
  expected: object,
  found: object,
  name: string | number,
  pointer: string,
): Difference | undefined {
  const at = appendPointer(pointer, name);
  const [wanted, given] = [memberOf(expected, name), memberOf(found, name)];
  if (wanted !== undefined && given !== undefined) return firstDifference(wanted, given, at);
  if (wanted === undefined && given === undefined) return undefined;
  return { pointer: at, expected: clipped(wanted, 0), found: clipped(given, 0) };
}

function memberOf(value: object, name: string | number): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function firstOdd(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** JSON, or of a long text what stands around the place; at most 82 characters. */
function clipped(value: unknown, from: number): string {
  if (value === undefined) return 'nothing';
  const start = typeof value === 'string' && from > 40 ? from - 20 : 0;
  const told = JSON.stringify(
    start > 0 && typeof value === 'string' ? value.slice(start, start + 100) : value,
  );
  return `${start > 0 ? '…' : ''}${told.slice(0, 80)}${told.length > 80 ? '…' : ''}`;
}
