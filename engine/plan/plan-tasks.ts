import { quoted } from '../../core/base/quoted.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { PlanDraft, PlannedTask } from '../../core/contract/plan-draft.ts';
import { maxPlanProblems, type PlanProblem } from '../../core/contract/plan-problem.ts';
import type { Scope } from '../../core/contract/scope.ts';
import { checkTaskGraph } from '../../core/contract/task-graph.ts';
import { decompose, type PlanGround } from './decompose.ts';
import { duplicateObjectives } from './duplicate-objectives.ts';
import { gateTasks } from './gate-tasks.ts';
import { predictWrites } from './predicted-writes.ts';
import { type OrderedPart, resolveConflicts, type WriteConflict } from './resolve-conflicts.ts';
import { scopeRootOf } from './scope.ts';
import { taskConstraints } from './task-constraints.ts';

/** Who does the work: a patch that exists is always one Task, whatever the contract says about decomposition. */
export type PlanFor = 'patch' | 'worker';

export type PlanOutcome =
  | { readonly ok: true; readonly draft: PlanDraft }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

export interface PlanQuestion {
  readonly spec: EffectiveIntentSpec;
  readonly scope: Scope;
  readonly for: PlanFor;
  readonly ground?: PlanGround;
}

/**
 * The first draft of a Plan: implementation Tasks, then gates. Pure; the same question gives the same draft. Problems:
 * PLAN_DUPLICATE_OBJECTIVE, PLAN_CONFLICT (fail-fast), PLAN_INVALID for more Tasks than a plan may have.
 */
export function planTasks({ spec, scope, for: who, ground = {} }: PlanQuestion): PlanOutcome {
  const { intent, objmodel, metadata } = spec;
  const { decompositionMode, conflictResolution } = objmodel.planGeneration;
  const doubles = duplicateObjectives(intent.objectives);
  if (doubles.length > 0) return { ok: false, problems: doubles };
  const root = scopeRootOf(metadata.target.repo);
  const parts = decompose({
    objectives: intent.objectives,
    mode: who === 'patch' ? 'single-task' : decompositionMode,
    hints: intent.touchHints.files,
    root,
    scope,
    predict: predictWrites(scope, root, ground.rootNames),
    ground,
  });
  const resolved = resolveConflicts(parts, conflictResolution);
  if (!resolved.ok)
    return { ok: false, problems: resolved.conflicts.slice(0, maxPlanProblems).map(conflictProblem) };
  const implementation = toTasks(spec, resolved.parts);
  const tasks = [...implementation, ...gateTasks(spec, implementation)];
  const checked = checkTaskGraph(tasks);
  return checked.ok ? { ok: true, draft: { revision: 1, tasks } } : checked;
}

function toTasks(spec: EffectiveIntentSpec, parts: readonly OrderedPart[]): readonly PlannedTask[] {
  const { summary, changeType, objectives } = spec.intent;
  const constraints = taskConstraints(spec);
  return parts.map((part, at) => ({
    key: keyOf(at),
    number: at + 1,
    kind: 'implementation' as const,
    title: summary,
    goal: changeType,
    steps: part.objectives.flatMap((index) => objectives[index] ?? []),
    constraints,
    acceptanceCriteria: spec.acceptance.successCriteria,
    ...(part.writes === undefined ? {} : { predictedWrites: part.writes }),
    dependsOn: part.after.map(keyOf),
    gateStages: [],
  }));
}

function keyOf(index: number): string {
  return `task-${index + 1}`;
}

function conflictProblem({ before, after, path }: WriteConflict): PlanProblem {
  const tasks = [keyOf(before), keyOf(after)];
  return {
    code: 'PLAN_CONFLICT',
    message: `tasks ${tasks.map(quoted).join(' and ')} both write ${quoted(path)}, and \`conflictResolution\` is \`fail-fast\``,
    detail: { tasks, path },
  };
}
