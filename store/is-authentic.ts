import { replaces } from './journal-replaced.ts';
import type { KnownJournal } from './journal-witness.ts';
import type { ParsedJournal } from './parse-journal.ts';
import { isVouchedLine } from './vouched-line.ts';

/**
 * Whether the witness's user wrote all of a journal: the chain holds, the last line is vouched for and with it all
 * before, and it reaches as far as it ever did, over the same records: a chain does not reveal a tail that was cut off,
 * nor an older journal in its place. A journal that was put in place of exactly the one that is remembered counts, too:
 * its process was killed before it was remembered.
 */
export function isAuthentic(
  { records, lastDigest, lastLine }: ParsedJournal,
  witness: KnownJournal,
): boolean {
  const { reached } = witness;
  if (records.length === 0) return reached === undefined || reached.records === 0;
  if (reached === undefined) return false;
  // Of one that is shorter than it was, the last line is not the one that is remembered.
  const found = records[reached.records]?.prev ?? lastDigest;
  const isKnown = found === reached.digest || replaces(records, reached);
  return isKnown && isVouchedLine(lastLine, witness);
}
