import t, { type Test } from 'tap';
import { leaveOut } from './leave-out.ts';
import { partVariable } from './part-variable.ts';

interface LongTestOptions {
  readonly timeout?: number;
  readonly skip?: boolean | string;
  readonly jobs?: number;
}

type Body = (t: Test) => Promise<unknown> | undefined;

/**
 * `t.test` of what is too long for `npm test` as a whole, which notes that it was left; it runs with its file, with its
 * room and in `npm run test:long`. What stands beside it in the same file keeps watch meanwhile.
 */
export function longTest(name: string, ...how: readonly [Body] | readonly [LongTestOptions, Body]): void {
  const [options, body] = how.length === 1 ? [{}, ...how] : how;
  if (process.env[partVariable] === undefined) t.test(name, options, body);
  else leaveOut(name);
}
