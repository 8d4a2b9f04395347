import t, { type Test } from 'tap';
import { partVariable } from './part-variable.ts';

/**
 * `t.test` of what is too long for `npm test` as a whole, which notes that it was left; it runs with its file, with its
 * room and in `npm run test:long`. What stands beside it in the same file keeps watch meanwhile.
 */
export async function longTest(
  name: string,
  body: (t: Test) => Promise<void> | void,
  isWhole = process.env[partVariable] === undefined,
): Promise<void> {
  if (isWhole) await t.test(name, body);
  else t.comment(`note: left to \`npm run test:long\`: ${name}`);
}
