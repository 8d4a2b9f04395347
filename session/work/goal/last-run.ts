import type { RunView } from '../../../core/contract/run-view.ts';
import { readRun } from '../../../engine/run/record/read-run.ts';
import { findRun } from '../../../engine/store/record/find-run.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { pursuedGoal } from '../../state/goal.ts';
import type { MadePlan } from '../plan-step.ts';
import type { TurnScope } from '../turn-scope.ts';

/** The last run of the goal, where this plan is the one that it ran; a new plan has none. */
export async function lastRun(
  { setting, state }: Pick<TurnScope, 'setting' | 'state'>,
  plan: MadePlan,
): Promise<RunView | undefined> {
  const run = pursuedGoal(state())?.run;
  if (run === undefined || plan.status === 'proposed') return undefined;
  const { engine, repositoryPath, clock } = setting;
  const repository = await openRepository(repositoryPath);
  const { store, runId } = await findRun(engine.slots.store, repository, clock, run);
  return readRun(repository, store, runId);
}
