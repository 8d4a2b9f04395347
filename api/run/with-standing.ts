import { isWritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import type { Place } from '../place.ts';
import { judgeHere } from './judge-here.ts';
import { openWaitingRun } from './waiting-run.ts';

/**
 * A view with what was signed of a run that waits, judged as of now; unchanged where its record cannot be approved,
 * which `writ approve` and `writ fsck` tell.
 */
export async function withStanding(context: Place, view: RunView): Promise<RunView> {
  if (view.state !== 'waiting' || view.decision === undefined) return view;
  try {
    const run = await openWaitingRun(context, view.runId);
    const { approvers } = await judgeHere(run);
    return { ...view, waiting: { for: run.record.for, needed: run.record.needed, people: approvers } };
  } catch (fault) {
    if (isWritError(fault)) return view;
    throw fault;
  }
}
