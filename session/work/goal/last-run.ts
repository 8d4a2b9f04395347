import { isWritError } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/contract/run-view.ts';
import { readRun } from '../../../engine/run/record/read-run.ts';
import { findRun } from '../../../engine/store/record/find-run.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { MadePlan } from '../plan-step.ts';
import type { TurnScope } from '../turn-scope.ts';

/** The run of a goal's plan that came before, and whether what came of it was taken into account. */
export interface LastRun {
  readonly view: RunView;
  readonly isJudged: boolean;
}

/** The last run of this plan; `undefined` for a new plan, and where the run was never written down. */
export async function lastRun(
  { setting, state }: Pick<TurnScope, 'setting' | 'state'>,
  plan: MadePlan,
): Promise<LastRun | undefined> {
  const { run, judged } = pursuedGoal(state()) ?? {};
  if (run === undefined || plan.run.hasBegun !== true) return undefined;
  const { engine, repositoryPath, clock } = setting;
  const repository = await openRepository(repositoryPath);
  try {
    const { store, runId } = await findRun(engine.slots.store, repository, clock, run);
    return { view: await readRun(repository, store, runId), isJudged: run === judged };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
    throw fault;
  }
}
