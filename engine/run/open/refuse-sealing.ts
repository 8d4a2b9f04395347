import { WritError } from '../../../core/base/errors.ts';
import type { Journal } from '../../store/journal.ts';

/**
 * Refuses to cancel a run that is being sealed (RUN_NOT_CANCELLABLE): it is claimed in the log already, and is finished
 * instead.
 */
export function refuseSealing(runId: string, { records }: Journal): void {
  const begun = ({ data }: { readonly data: unknown }): boolean =>
    /\/seal\/facts$/.test(String((data as { step?: string } | null)?.step ?? ''));
  if (!records.some(begun)) return;
  throw new WritError('RUN_NOT_CANCELLABLE', { detail: { run_id: runId } });
}
