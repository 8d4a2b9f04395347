/* Adds the current state of a waiting run's approvals to its view. */
import { isWritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { Place } from '../place.ts';
import { type ChangedSince, changedSince } from './approve-run.ts';
import { evaluateHere } from './open-run.ts';
import { openWaitingRun } from './waiting-run.ts';

/** A view, and what changed since people signed for an earlier candidate. */
export interface LandingState {
  readonly view: RunView;
  readonly changed: readonly ChangedSince[];
}

/**
 * Adds the approvals of a waiting run to the view, verified as of now. If the record cannot be approved, returns the
 * view unchanged; `writ approve` and `writ fsck` report why.
 */
export async function withLandingState(context: Place, view: RunView): Promise<LandingState> {
  if (view.state !== 'waiting' || view.decision === undefined) return { view, changed: [] };
  try {
    const run = await openWaitingRun(context, view.runId);
    const judged = await evaluateHere(run);
    const changed = await changedSince(run, judged);
    const waiting = { for: run.record.for, needed: run.record.needed, people: judged.approvers };
    return { view: { ...view, waiting }, changed };
  } catch (fault) {
    if (isWritError(fault)) return { view, changed: [] };
    throw fault;
  }
}
