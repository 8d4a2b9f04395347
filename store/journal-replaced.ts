import type { JournalReach, KnownJournal } from './journal-witness.ts';
import type { JournalRecord } from './parse-journal.ts';

/** Says which journal, as far as its witness knows it, another one was put in place of. */
const replacedType = 'journal-replaced';

type Written = Pick<JournalRecord, 'at' | 'type' | 'data'>;

/**
 * The record for a journal of these records; none if the witness knows of no earlier one. It holds on this machine
 * only.
 */
export function replacedRecord(
  records: readonly Written[],
  { reached }: Pick<KnownJournal, 'reached'>,
): readonly Written[] {
  const at = records.at(-1)?.at;
  if (reached === undefined || at === undefined) return [];
  return [{ at, type: replacedType, data: { step: 'local/journal-replaced', ...reached } }];
}

/** Whether the journal was put in place of the one that reached so far. */
export function replaces(records: readonly JournalRecord[], reached: JournalReach): boolean {
  return records.some(({ type, data }) => {
    if (type !== replacedType) return false;
    const said = (data ?? {}) as { readonly records?: unknown; readonly digest?: unknown };
    return said.records === reached.records && said.digest === reached.digest;
  });
}
