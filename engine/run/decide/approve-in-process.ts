import { lastShown } from '../record/shown-reports.ts';
import { storeApproval } from '../record/stored-approvals.ts';
import type { Attempt } from '../state/attempt.ts';

/**
 * Has the approvers of this process sign what the run waits with, and stores that as anybody's approval is stored;
 * whether it counts is judged afterwards.
 */
export async function approveInProcess(attempt: Attempt): Promise<void> {
  const {
    identity: { runId },
    means: { settings, store },
  } = attempt;
  const shown = lastShown(attempt);
  if (!shown) return;
  for (const approver of settings.approvers ?? []) {
    const document = await approver.approve(shown.subject, settings.clock.now());
    await storeApproval(store, runId, document, `writ: approve ${runId} in process`);
  }
}
