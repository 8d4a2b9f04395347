import { sha256Hex } from '../../core/base/digest.ts';
import { leaveOut } from './leave-out.ts';
import { partVariable } from './part-variable.ts';

/**
 * Of cases that are much alike, all; in `npm test` as a whole a third, always the same: by the digests of their names,
 * so that nobody chooses the easy ones, and a note says how many were left.
 */
export function fixedThird<Name extends string>(
  names: readonly Name[],
  isWhole = process.env[partVariable] === undefined,
  say: (what: string) => void = leaveOut,
): readonly Name[] {
  if (isWhole) return names;
  const rank = new Map(names.map((name) => [name, sha256Hex(Buffer.from(name))]));
  const kept = names
    .toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1))
    .slice(0, Math.ceil(names.length / 3));
  say(
    `${names.length - kept.length} of ${names.length} cases like \`${names.find((name) => !kept.includes(name))}\``,
  );
  return kept;
}
