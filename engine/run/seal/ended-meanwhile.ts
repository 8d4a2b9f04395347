import { isWritError } from '../../../core/base/errors.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import { requireActive } from '../../intent/require-active.ts';
import { decide } from '../decide/decide.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import type { Attempt } from '../state/attempt.ts';

/**
 * Asks right before sealing whether the intent is still active: a person may have closed or superseded it, or another
 * run committed it, since this one was started. Then what was decided is decided again with that as a refusal;
 * `undefined` where nothing is in the way.
 */
export async function endedMeanwhile(attempt: Attempt, judged: JudgedRun): Promise<JudgedRun | undefined> {
  const {
    identity: { contract, runId },
    means: { steps, store },
  } = attempt;
  // What is being sealed is claimed in the log already: it is finished.
  if (steps.ended('facts') !== undefined) return undefined;
  const { reason } = await steps.once('still-active', async (): Promise<{ readonly reason?: string }> => {
    try {
      await requireActive(store, contract, { runId });
      return {};
    } catch (fault) {
      if (!isWritError(fault, 'LIFECYCLE_NOT_ACTIVE')) throw fault;
      return { reason: fault.message };
    }
  });
  if (reason === undefined) return undefined;
  const refusal: Finding = { rule: 'lifecycle', severity: 'error', message: reason };
  const { rule, severity } = refusal;
  const input = { ...judged.input, refusals: [...judged.input.refusals, { rule, severity }] };
  return { ...judged, refusals: [...judged.refusals, refusal], input, decision: decide(input) };
}
