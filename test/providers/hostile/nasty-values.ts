/** JSON text that a vendor has no business to send where something else stands. */
export const nastyValues: readonly string[] = [
  'null',
  'true',
  '-1',
  '1e999',
  '-1e999',
  '9007199254740993',
  '0.5',
  '""',
  '"constructor"',
  '"__proto__"',
  '"\\ud800"',
  '"\\u0000\\u001b[31m"',
  '[]',
  '{}',
  '[[null]]',
  '{"__proto__":{"id":"x","text":"y"},"constructor":null,"toString":1,"length":-1}',
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  `[${'0,'.repeat(300)}0]`,
];

const mark = '\u0001nasty\u0001';

/** The text of a value with a part of it swapped: the `place`-th of all, counted as they stand, modulo their number. */
export function withNasty(value: unknown, place: number, nasty: string): string {
  const at = place % countOf(value);
  let seen = -1;
  const walk = (part: unknown): unknown => {
    seen += 1;
    if (seen === at) return mark;
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, walk(inner)]));
  };
  return JSON.stringify(walk(value)).replace(JSON.stringify(mark), () => nasty);
}

/** How many parts a value has, itself included. */
export function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + countOf(part), 1);
}
