import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import { type Attempt, withSteps } from '../state/open-run.ts';
import { openingWorkspace, WorkspaceLost } from './open-workspace.ts';
import { runStage } from './run-stage.ts';

/** What the stages did, the untracked directories that their checks were given, and what artifacts were made from. */
export interface StagesRun {
  readonly stages: readonly StageRecord[];
  /** The back end that all their commands ran in; where none ran, the one that the run was started with. */
  readonly sandbox: string;
  readonly dependencies: readonly DigestedThing[];
  /** Why directories of `[workspace] share` were left out. */
  readonly skipped: readonly string[];
}

/**
 * Runs the stages in order; a stage never starts after one that did not pass. Checks that ended in an earlier process
 * keep their results. All stages run again if a remaining check needs carried paths that are lost, or would get other
 * dependencies or another sandbox.
 */
export async function runStages(
  attempt: Attempt,
  names: readonly StageRecord['stage'][] = stageNames,
): Promise<StagesRun> {
  for (let epoch = 1; ; epoch += 1) {
    if (attempt.means.steps.ended(`epoch-${epoch}/lost`)) continue;
    const steps = attempt.means.steps.under(`epoch-${epoch}`);
    try {
      return await runEpoch(withSteps(attempt, steps), epoch, names);
    } catch (fault) {
      if (!(fault instanceof WorkspaceLost)) throw fault;
      await steps.once('lost', () => undefined);
      attempt.box.empty();
    }
  }
}

/** Discards all check results of an attempt, so that the stages run again in a separate workspace. */
export async function judgeAnew({ means: { steps }, box }: Pick<Attempt, 'means' | 'box'>): Promise<void> {
  for (let epoch = 1; ; epoch += 1) {
    if (steps.ended(`epoch-${epoch}/lost`)) continue;
    await steps.once(`epoch-${epoch}/lost`, () => undefined);
    return box.empty();
  }
}

async function runEpoch(
  attempt: Attempt,
  epoch: number,
  names: readonly StageRecord['stage'][],
): Promise<StagesRun> {
  const workspace = openingWorkspace(attempt, epoch);
  const stages: StageRecord[] = [];
  for (const name of names) {
    attempt.means.settings.signal.throwIfAborted();
    if (attempt.means.wallClockExceeded()) break;
    const record = await runStage(attempt, workspace, name, stages);
    stages.push(record);
    if (record.status === 'failed' || record.status === 'waiting') break;
  }
  const sandbox = workspace.sandbox() ?? attempt.identity.sandboxName;
  return {
    stages,
    sandbox,
    dependencies: [...workspace.dependencies(), ...attempt.box.madeFrom()],
    skipped: workspace.skipped(),
  };
}
