import { leaveOut } from './leave-out.ts';
import { partVariable } from './part-variable.ts';

/**
 * How many of these a test tries that are all drawn alike: all of them; in `npm test` as a whole only so many as are
 * kept, and a note says how many were left. Throws where none is kept, or more than there are.
 */
export function fixedCount(
  what: string,
  all: number,
  kept: number,
  isWhole = process.env[partVariable] === undefined,
  say: (what: string) => void = leaveOut,
): number {
  if (kept < 1 || kept > all) throw new Error(`expected 1 to ${all} ${what} to be kept, found ${kept}`);
  if (isWhole) return all;
  if (kept < all) say(`${all - kept} of ${all} ${what}`);
  return kept;
}
