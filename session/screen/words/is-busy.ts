import type { Snapshot } from '../../state/snapshot.ts';

/** Whether a turn runs. */
export function isBusy({ status }: Pick<Snapshot, 'status'>): boolean {
  return status === 'thinking' || status === 'executing_tool' || status === 'awaiting_interaction';
}
