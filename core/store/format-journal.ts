import { sha256Hex } from '../base/digest.ts';
import { firstPrev, type JournalRecord } from './parse-journal.ts';

/** Records as the bytes of a journal of their own: numbered and chained anew, times kept. */
export function formatJournal(records: readonly Pick<JournalRecord, 'at' | 'type' | 'data'>[]): Buffer {
  let prev = firstPrev;
  const lines = records.map(({ at, type, data }, index) => {
    const line = JSON.stringify({ seq: index + 1, at, type, data, prev });
    prev = sha256Hex(line);
    return `${line}\n`;
  });
  return Buffer.from(lines.join(''));
}
