import { WritError } from '../../../core/base/errors.ts';
import type { Journal } from '../../store/journal.ts';

/**
 * Refuses to cancel a run whose sealing a process began and did not end (RUN_NOT_CANCELLABLE): its claim may be in a
 * log and its branch moved, which only going on finds out.
 */
export function refuseSealing(runId: string, journal: Journal): void {
  if (!isSealing(journal)) return;
  throw new WritError('RUN_NOT_CANCELLABLE', {
    message: 'a process was stopped while it sealed the run',
    detail: { run_id: runId },
  });
}

/** Whether a process began to seal the run. */
export function isSealing({ records }: Pick<Journal, 'records'>): boolean {
  const begun = ({ data }: { readonly data: unknown }): boolean =>
    /(?:^|\/)seal\/facts$/.test(String((data as { step?: string } | null)?.step ?? ''));
  return records.some(begun);
}
