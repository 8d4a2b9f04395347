import type { EffectiveIntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import type { PlanDraft, PlannedTask } from '../../../core/interfaces/plan.ts';
import type { PlanEnvironment } from '../../../engine/plan/decompose.ts';
import { type PlanFor, type PlanOutcome, planTasks } from '../../../engine/plan/plan-tasks.ts';
import { effectiveScope } from '../../../engine/plan/scope.ts';
import { sampleSpecWith } from '../../../testing.ts';

type PlanGeneration = EffectiveIntentSpec['objmodel']['planGeneration'];

export interface Wish extends Partial<PlanGeneration> {
  readonly objectives: readonly string[];
  readonly inScope?: readonly string[];
  readonly outOfScope?: readonly string[];
  readonly hints?: readonly string[];
  readonly checks?: Partial<Record<'fast' | 'integration' | 'security' | 'release', readonly string[]>>;
  readonly root?: string;
}

/** A contract with these objectives and nothing else that planning looks at. */
export function specOf(wish: Wish): EffectiveIntentSpec {
  const { objectives, inScope = ['everything'], outOfScope = [], hints = [], checks = {}, root } = wish;
  const { decompositionMode, conflictResolution, gateTaskPerStage } = wish;
  const listed = (ids: readonly string[] = []) =>
    ids.map((id) => ({
      id,
      kind: 'command' as const,
      command: 'true',
      timeoutSeconds: 60,
      expectedExitCode: 0,
      required: true,
      artifactsProduced: [],
    }));
  return sampleSpecWith({
    ...(root === undefined
      ? {}
      : { metadata: { target: { repo: { type: 'monorepo', locator: `//${root}` } } } }),
    intent: { objectives, inScope, outOfScope, touchHints: { files: hints } },
    acceptance: {
      verificationPlan: {
        fastChecks: listed(checks.fast),
        integrationChecks: listed(checks.integration),
        securityChecks: listed(checks.security),
        releaseChecks: listed(checks.release),
      },
    },
    objmodel: {
      planGeneration: {
        ...(decompositionMode === undefined ? {} : { decompositionMode }),
        ...(conflictResolution === undefined ? {} : { conflictResolution }),
        ...(gateTaskPerStage === undefined ? {} : { gateTaskPerStage }),
      },
    },
  });
}

export const rootNames: ReadonlySet<string> = new Set(['src', 'test', 'docs', 'packages']);

export function outcomeOf(
  wish: Wish,
  environment: PlanEnvironment = {},
  who: PlanFor = 'worker',
): PlanOutcome {
  const spec = specOf(wish);
  return planTasks({
    spec,
    scope: effectiveScope(spec, rootNames),
    for: who,
    environment: { rootNames, ...environment },
  });
}

/** The draft of a contract that can be planned. */
export function draftOf(wish: Wish, environment: PlanEnvironment = {}, who: PlanFor = 'worker'): PlanDraft {
  const outcome = outcomeOf(wish, environment, who);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return outcome.draft;
}

/** Work as rows: key, steps, predicted writes, dependencies. */
export function workOf({ tasks }: PlanDraft): readonly unknown[] {
  return tasks
    .filter(({ kind }) => kind === 'implementation')
    .map(({ key, steps, predictedWrites, dependsOn }) => [key, steps, predictedWrites, dependsOn]);
}

/** A Task for graph tests. */
export function taskOf(
  number: number,
  dependsOn: readonly string[] = [],
  more: Partial<PlannedTask> = {},
): PlannedTask {
  return {
    key: `task-${number}`,
    number,
    kind: 'implementation',
    title: 'a task',
    goal: 'feature',
    steps: [`step ${number}`],
    constraints: [],
    acceptanceCriteria: [],
    dependsOn,
    gateStages: [],
    ...more,
  };
}
