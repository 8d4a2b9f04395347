import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, writeDurably } from '../../../core/base/durable-file.ts';
import { formatJournal } from '../../store/format-journal.ts';
import { replacedRecord } from '../../store/journal-replaced.ts';
import type { WitnessedJournal } from '../../store/journal-witness.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { journalFile } from '../../store/run-directory.ts';

/** Where a journal that nobody vouched for is put aside, for people to look at. */
const asideFile = 'journal.unproven.jsonl';

/**
 * Puts a journal of these records in place of whatever stands there, whole or not at all; this machine vouches for it
 * from now on.
 */
export async function putJournal(
  directory: string,
  records: readonly Pick<JournalRecord, 'at' | 'type' | 'data'>[],
  witness: WitnessedJournal,
): Promise<void> {
  const path = join(directory, journalFile);
  await copyFile(path, join(directory, asideFile)).catch(absent);
  const { bytes, reach } = formatJournal([...records, ...replacedRecord(records, witness)], witness);
  await writeDurably(path, bytes);
  await witness.reach(reach);
}
