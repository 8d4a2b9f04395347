import type { RunView } from '../../../core/interfaces/run-view.ts';
import { unheldTarget } from '../../../engine/seal/move-target.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import type { Repository } from '../../../workspace/git/repository.ts';
import { heldQuestion } from '../../state/held/held-question.ts';
import type { HeldReview, HeldRun } from '../../state/held/held-review.ts';
import type { MadePlan } from '../plan-step.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';

/** A run that is to begin. */
interface Beginning {
  readonly repository: Repository;
  readonly runId: string;
  readonly specBytes: Uint8Array;
  readonly plan: Pick<MadePlan, 'id'>;
}

/** Where its change is held until a person has reviewed it; `undefined` where nobody wants that. */
export async function holdRun(
  { state }: Pick<TurnScope, 'state'>,
  { repository, runId, specBytes, plan }: Beginning,
): Promise<HeldRun | undefined> {
  const read = state().settings.review === 'on' ? readIntentSpec(specBytes) : undefined;
  // A contract that cannot be read begins no run.
  if (read?.ok !== true) return undefined;
  const target = await unheldTarget(repository, read.effective.metadata.target.baseRef, runId);
  return { runId, branch: `refs/heads/writ/review-${runId}`, target, plan: plan.id };
}

/** Whether the change of this run is made, and waits for a person. */
export function isHeldRun({ state }: Pick<TurnScope, 'state'>, { runId, decision }: RunView): boolean {
  return decision?.type === 'commit' && state().heldRun?.runId === runId;
}

/** A change that is made waits from here on: the person is asked what becomes of it. */
export async function holdStep(scope: TurnScope, view: RunView): Promise<StepEnd> {
  const { heldRun: run } = scope.state();
  const { decision, patch, baseCommit, spec } = view;
  if (run === undefined || decision?.commitSha === undefined || patch === undefined)
    throw new TypeError('a change is held that there is not');
  const { ref, expected } = run.target;
  const review: HeldReview = {
    ...run,
    // A branch that there was is moved from what the change was made on.
    target: { ref, expected: expected === undefined ? undefined : baseCommit },
    commit: decision.commitSha,
    patchset: patch.digest,
    summary: spec.summary,
  };
  await scope.tell({ type: 'review-began', review });
  return askHeld(scope, review);
}

export async function askHeld({ tell }: Pick<TurnScope, 'tell'>, held: HeldReview): Promise<'waits'> {
  await tell({ type: 'ask', ...heldQuestion(held) });
  return 'waits';
}
