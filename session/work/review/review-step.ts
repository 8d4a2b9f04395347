import type { MadePlan } from '../plan-step.ts';
import { settle } from '../run-step.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { findRunOf } from './find-run-of.ts';
import { askHeld, holdStep, isHeldRun } from './hold-run.ts';

/**
 * Asks again what becomes of the change that is held; of a run that was sealed since the session last saw it, for the
 * first time.
 */
export async function reviewStep(scope: TurnScope): Promise<StepEnd> {
  const { held, heldRun, plans } = scope.state();
  if (held !== undefined) return askHeld(scope, held);
  if (heldRun === undefined) throw new TypeError('a review of nothing');
  const { runId } = heldRun;
  const { view } = (await findRunOf(scope, runId)) ?? {};
  const plan = plans.find(
    (one): one is MadePlan & typeof one => one.id === heldRun.plan && one.run !== undefined,
  );
  if (view !== undefined && view.state !== 'decided')
    return {
      end: 'failed',
      reason: `run ${runId} has not ended: \`writ resume ${runId}\`, then \`/review\``,
    };
  if (view === undefined || plan === undefined || !isHeldRun(scope, view)) {
    await scope.tell({ type: 'review-ended', end: 'discarded' });
    return { end: 'failed', reason: `run ${runId} has made no change that could be reviewed` };
  }
  await settle(scope, plan, view);
  return holdStep(scope, view);
}
