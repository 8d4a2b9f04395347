import { sha256Hex } from '../core/base/digest.ts';
import type { JournalReach, WitnessedJournal } from './journal-witness.ts';
import { firstPrev, type JournalRecord } from './parse-journal.ts';
import { toVouchedLine } from './vouched-line.ts';

/** A journal as bytes, and how far it reaches. */
export interface FormattedJournal {
  readonly bytes: Buffer;
  readonly reach: JournalReach;
}

/**
 * Records as the bytes of a journal of their own: numbered and chained anew, times kept. Vouched for where there is a
 * witness.
 */
export function formatJournal(
  records: readonly Pick<JournalRecord, 'at' | 'type' | 'data'>[],
  witness?: WitnessedJournal,
): FormattedJournal {
  let prev = firstPrev;
  const lines = records.map(({ at, type, data }, index) => {
    const line = toVouchedLine({ seq: index + 1, at, type, data, prev }, witness);
    prev = sha256Hex(line);
    return `${line}\n`;
  });
  return { bytes: Buffer.from(lines.join('')), reach: { records: records.length, digest: prev } };
}
