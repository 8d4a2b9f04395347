/* Runs the four stages in order. */
import { toRfc3339 } from '../../core/base/clock.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import { describeEngine, endOf } from '../state/machine.ts';
import { type Attempt, withSteps } from '../state/open-run.ts';
import { openingWorkspace, WorkspaceLost } from './open-workspace.ts';
import { openElsewhere } from './reuse-verdicts.ts';
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
    if (attempt.services.steps.ended(`epoch-${epoch}/lost`)) continue;
    const steps = attempt.services.steps.under(`epoch-${epoch}`);
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
export async function evaluateAgain({
  services: { steps },
  box,
}: Pick<Attempt, 'services' | 'box'>): Promise<void> {
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
  const elsewhere = openElsewhere(attempt);
  const workspace = openingWorkspace(attempt, epoch, elsewhere);
  const stages: StageRecord[] = [];
  try {
    for (const name of names) {
      attempt.services.settings.signal.throwIfAborted();
      if (attempt.services.wallClockExceeded()) break;
      const record = await runStage(attempt, workspace, name, stages, elsewhere);
      stages.push(record);
      if (record.status === 'failed' || record.status === 'waiting') break;
    }
  } finally {
    await elsewhere?.close();
  }
  const sandbox = workspace.sandbox() ?? attempt.identity.sandboxName;
  return {
    stages,
    sandbox,
    dependencies: [...workspace.dependencies(), ...attempt.box.madeFrom()],
    skipped: workspace.skipped(),
  };
}

/**
 * Makes a trial seal of the current candidate with the run's key and log, for a spec with a `verify-provenance`
 * check. Returns `undefined` if the spec requires no provenance or has no such check.
 */
export async function rehearseSeal(attempt: Attempt): Promise<RuleInput['rehearsal']> {
  const {
    identity: { contract, runId, startedAtMs },
    services: { engine, sealing, settings },
    patch,
    environment,
  } = attempt;
  const spec = contract.effective;
  const { verificationPlan } = spec.acceptance;
  const isAsked = stageNames.some((stage) =>
    verificationPlan[`${stage}Checks`].some(
      ({ kind, command }) => kind === 'policy' && /^\s*["']?verify-provenance\b/.test(command ?? ''),
    ),
  );
  if (!isAsked || !sealing) return undefined;
  const { attestor } = engine;
  const problems = await attestor.rehearse(
    {
      runId,
      spec,
      specDigest: contract.digest,
      schedulerVersion: settings.schedulerVersion,
      engine: await describeEngine(settings.schedulerVersion),
      sandbox: attempt.identity.sandboxName,
      repositoryUri: attempt.environment.repositoryUri,
      baseCommit: patch.baseCommit,
      policyCommit: environment.policy.commit,
      // No commit exists yet; this signature is discarded.
      commit: patch.candidateTree,
      tree: patch.candidateTree,
      patchDigest: patch.digest,
      resolvedDependencies: [],
      byproducts: [],
      stages: [],
      approvals: [],
      startedOn: toRfc3339(startedAtMs),
      finishedOn: toRfc3339(endOf(attempt)),
    },
    sealing,
  );
  return { problems };
}
