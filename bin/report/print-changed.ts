import type { ChangedSince } from '../../api/run/changed-since.ts';
import { type Part, styled } from '../terminal/print.ts';
import { toCount } from './quantities.ts';

const words: Readonly<Record<ChangedSince['patch'], string>> = {
  same: 'the same octet by octet',
  placed: 'the same but for line numbers and the files around it',
  changed: 'changed:',
  large: 'changed, and too large to be compared here',
  unknown: 'not known: the earlier candidate is not in this clone',
};

/** Says what changed since people signed for an earlier candidate; they need not look at anything else. */
export function printChanged(
  write: (...parts: readonly Part[]) => void,
  changes: readonly ChangedSince[],
  candidateTree: string,
): void {
  for (const { people, base_commit, candidate_tree, patch, diff, left_out, verdict } of changes) {
    write(styled('bold', 'changed'), `  since ${people.join(', ')} signed for tree ${candidate_tree}`);
    write(`  base       was ${base_commit}`);
    write(`  patch      ${words[patch]}`);
    for (const line of diff) write(`    ${line}`);
    if (left_out > 0) write(`    … ${toCount(left_out, 'more line')}`);
    write(`  verdict    ${verdict.length === 0 ? 'the same' : verdict.join('; ')}`);
    write(`  see it     git diff ${candidate_tree} ${candidateTree}`);
  }
}
