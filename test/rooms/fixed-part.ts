import { leaveOut } from './leave-out.ts';
import { partVariable } from './part-variable.ts';

/**
 * The cases of a long table that are to run, with their names: all of them where a file or a room runs by itself, and
 * in `npm run test:long`; in `npm test` as a whole only those kept here, and a note says how many were left. Throws
 * for a name that the table does not hold, and where none is kept.
 */
export function fixedPart<Case>(
  table: Readonly<Record<string, Case>>,
  kept: readonly string[],
  isWhole = process.env[partVariable] === undefined,
  say: (what: string) => void = leaveOut,
): readonly (readonly [name: string, one: Case])[] {
  const cases = Object.entries(table);
  const unknown = kept.filter((name) => !Object.hasOwn(table, name));
  if (kept.length === 0 || unknown.length > 0)
    throw new Error(`no case of the table: ${unknown.map((name) => `\`${name}\``).join(', ')}`);
  if (isWhole) return cases;
  const [first] = cases.filter(([name]) => !kept.includes(name));
  if (first !== undefined) say(`${cases.length - kept.length} of ${cases.length} cases like \`${first[0]}\``);
  return cases.filter(([name]) => kept.includes(name));
}
