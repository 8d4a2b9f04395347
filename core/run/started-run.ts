import { WritError } from '../base/errors.ts';
import type { JournalRecord } from '../store/parse-journal.ts';
import type { GateReport } from './gate-report.ts';

/** The first record of a run's journal: what was asked for, resolved once. */
export interface StartedRun {
  readonly runId: string;
  readonly threadId: string;
  readonly startedAtMs: number;
  readonly source: 'patch' | 'range' | 'worker';
  readonly onto?: string;
  readonly base: { readonly commit: string | null; readonly tree: string };
  /** For a range, its tip: authors and committers up to here may not approve. */
  readonly tip?: string;
  /** The candidate of a supplied patch. */
  readonly candidate?: { readonly tree: string; readonly digest: string };
  readonly sandbox: string;
  /** What `show` can say before anything was judged. */
  readonly report: GateReport;
}

/** Type of the record. */
export const startedType = 'run-started';

/** The first record; `undefined` for a journal that holds none: its process was stopped before the run began. */
export function startedRun(records: readonly JournalRecord[]): StartedRun | undefined {
  const record = records[0];
  if (record === undefined) return undefined;
  if (record.type !== startedType) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: `the journal begins with \`${record.type}\`, expected \`${startedType}\``,
      detail: { expected: startedType, found: record.type },
    });
  }
  return record.data as StartedRun;
}
