import t, { type Test } from 'tap';
import { shortVariable } from './variables.ts';

/** Whether long tests run: in `npm run test:long`, and wherever a file, a room or `--changed` is named. */
export const isLong = process.env[shortVariable] === undefined;

interface LongTestOptions {
  readonly timeout?: number;
  readonly skip?: boolean | string;
  readonly jobs?: number;
}

type Body = (t: Test) => Promise<unknown> | undefined;

/** `t.test` of a long test. `npm test` leaves it out and prints how many it left out. */
export function long(name: string, ...how: readonly [Body] | readonly [LongTestOptions, Body]): void {
  const [options, body] = how.length === 1 ? [{}, ...how] : how;
  if (isLong) t.test(name, options, body);
  else leaveOut(1);
}

/**
 * The cases of a table with their names. `npm test` runs only those named in `short`.
 * Throws for a name that the table does not have, and if none is named.
 */
export function casesOf<Name extends string, Case>(
  table: Readonly<Record<Name, Case>>,
  short: readonly NoInfer<Name>[],
): readonly (readonly [name: Name, one: Case])[] {
  const unknown = short.filter((name) => !Object.hasOwn(table, name));
  if (short.length === 0 || unknown.length > 0) throw new Error(`no such case: ${unknown.join(', ')}`);
  const cases = Object.entries(table) as [Name, Case][];
  if (isLong) return cases;
  leaveOut(cases.length - short.length);
  return cases.filter(([name]) => short.includes(name));
}

/** All items, or every third of them in `npm test`. */
export function everyThird<const Item>(items: readonly Item[]): readonly Item[] {
  if (isLong) return items;
  const kept = items.filter((_, index) => index % 3 === 0);
  leaveOut(items.length - kept.length);
  return kept;
}

let left = 0;

/** Counts cases that `npm test` leaves out. */
export function leaveOut(count: number): void {
  if (left === 0)
    process.once('exit', () => {
      process.stdout.write(`# note: ${left} long cases left to \`npm run test:long\`\n`);
    });
  left += count;
}
