/* Makes the first draft of a plan, and tests whether a draft that plugins changed still covers the spec. */
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import {
  checkTaskGraph,
  maxPlanProblems,
  type PlanDraft,
  type PlannedTask,
  type PlanProblem,
} from '../../core/interfaces/plan.ts';
import { type StageName, stageNames } from '../../core/interfaces/stage.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { decompose, type PlanEnvironment } from './decompose.ts';
import { type OrderedPart, resolveConflicts, type WriteConflict } from './plan-advice.ts';
import { predictWrites } from './predicted-writes.ts';
import { scopeRootOf } from './scope.ts';

/** Who does the work. An existing patch is always one Task, whatever the spec's decomposition mode. */
export type PlanFor = 'patch' | 'worker';

/** An external agent makes the whole change at once, as a patch does. */
export function planFor(isWorked: boolean, worker: Worker | undefined): PlanFor {
  return isWorked && worker?.external === undefined ? 'worker' : 'patch';
}

export type PlanOutcome =
  | { readonly ok: true; readonly draft: PlanDraft }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

export interface PlanQuestion {
  readonly spec: EffectiveIntentSpec;
  readonly scope: Scope;
  readonly for: PlanFor;
  readonly environment?: PlanEnvironment;
}

/**
 * The first draft of a Plan: implementation Tasks, then gates. Pure; the same question gives the same draft. Problems:
 * PLAN_DUPLICATE_OBJECTIVE, PLAN_CONFLICT (fail-fast), PLAN_INVALID for more Tasks than a plan may have.
 */
export function planTasks({ spec, scope, for: who, environment = {} }: PlanQuestion): PlanOutcome {
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
    predict: predictWrites(scope, root, environment.rootNames),
    environment,
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

/** PLAN_DUPLICATE_OBJECTIVE, with every pair. */
export function requireDistinctObjectives(objectives: readonly string[]): void {
  const problems = duplicateObjectives(objectives);
  if (problems.length > 0) throw toPlanFault(problems);
}

/** Builds the error of the first problem, with all problems in `detail.problems`. */
export function toPlanFault(problems: readonly PlanProblem[]): WritError {
  const [first] = problems;
  if (first === undefined) return new WritError('INTERNAL', { message: 'a plan failed without a problem' });
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new WritError(first.code, {
    message: `${first.message}${more}`,
    detail: { ...first.detail, problems: problems.slice(0, maxPlanProblems) },
  });
}

/** Two objectives with the same text would become two Tasks with the same work. */
export function duplicateObjectives(objectives: readonly string[]): readonly PlanProblem[] {
  const known = new Map<string, number>();
  const problems: PlanProblem[] = [];
  for (const [index, objective] of objectives.entries()) {
    const words = objective.trim().replace(/\s+/g, ' ');
    const first = known.get(words);
    if (first === undefined) known.set(words, index);
    else if (problems.length < maxPlanProblems)
      problems.push({
        code: 'PLAN_DUPLICATE_OBJECTIVE',
        message: `objectives ${first} and ${index} (from 0) are the same: ${quoted(words)}`,
        detail: { objectives: [first, index], paths: [first, index].map((at) => `/intent/objectives/${at}`) },
      });
  }
  return problems;
}

/**
 * Returns the gates after `implementation` (`objmodel.planGeneration.gateTaskPerStage`). There is one for each stage
 * with checks, in sequence, or one for all stages, with every check id in stage order. A spec without checks has no
 * gate.
 */
function gateTasks(
  { acceptance, objmodel }: Pick<EffectiveIntentSpec, 'acceptance' | 'objmodel'>,
  implementation: readonly Pick<PlannedTask, 'key' | 'number'>[],
): readonly PlannedTask[] {
  const checksAt = (stage: StageName): readonly string[] =>
    acceptance.verificationPlan[`${stage}Checks`].map(({ id }) => id);
  const stages = stageNames.filter((stage) => checksAt(stage).length > 0);
  const cut = objmodel.planGeneration.gateTaskPerStage ? stages.map((stage) => [stage]) : [stages];
  const numbers = implementation.length;
  const gates = cut.filter((one) => one.length > 0);
  const keys = gates.map((one) => (objmodel.planGeneration.gateTaskPerStage ? `gate-${one[0]}` : 'gate'));
  return gates.map((gateStages, at) => {
    const previous = keys[at - 1];
    return {
      key: keys[at] ?? 'gate',
      number: numbers + at + 1,
      kind: 'gate' as const,
      title: `${gateStages.join(', ')} checks`,
      goal: 'gate',
      steps: gateStages.flatMap(checksAt),
      constraints: [],
      acceptanceCriteria: [],
      dependsOn: previous === undefined ? implementation.map(({ key }) => key) : [previous],
      gateStages,
    };
  });
}

/** Returns the hard boundaries as a worker reads them, with their standard prefixes. */
function taskConstraints({ intent, constraints, risk }: EffectiveIntentSpec): readonly string[] {
  const { cryptoPolicy } = constraints.security;
  return [
    ...intent.inScope.map((entry) => `in-scope:${entry}`),
    ...intent.outOfScope.map((entry) => `out-of-scope:${entry}`),
    ...(cryptoPolicy === '' ? [] : [`crypto-policy:${cryptoPolicy}`]),
    `risk-rationale:${risk.rationale}`,
  ];
}

/**
 * Returns whether a draft that plugins changed is still a plan of this spec. Every objective is a step, and every
 * Task has every constraint and criterion. The gates are the spec's and come after all work. A patch is one Task. The
 * draft must have passed `checkTaskGraph`.
 */
export function coversSpec(
  draft: PlanDraft,
  spec: EffectiveIntentSpec,
  who: PlanFor,
): readonly PlanProblem[] {
  const work = draft.tasks.filter(({ kind }) => kind === 'implementation');
  const problems = [
    ...objectiveProblems(work, spec),
    ...boundaryProblems(work, spec),
    ...gateProblems(draft, work, spec),
  ];
  if (who === 'patch' && work.length !== 1)
    problems.push(
      problem('not-one-task', `expected one task for a supplied patch, found ${work.length}`, {
        found: work.length,
      }),
    );
  return problems.slice(0, maxPlanProblems);
}

function objectiveProblems(
  work: readonly PlannedTask[],
  { intent }: EffectiveIntentSpec,
): readonly PlanProblem[] {
  const steps = new Set(work.flatMap((task) => task.steps));
  const dropped = intent.objectives.flatMap((objective, index) =>
    steps.has(objective)
      ? []
      : problem('objective-dropped', `no task has the objective ${quoted(objective)} as a step`, {
          objective: index,
        }),
  );
  const idle = work.flatMap(({ key, steps: own }) =>
    own.length > 0 ? [] : problem('no-steps', `task ${quoted(key)} has no step`, { key }),
  );
  return [...dropped, ...idle];
}

function boundaryProblems(work: readonly PlannedTask[], spec: EffectiveIntentSpec): readonly PlanProblem[] {
  const wanted = { constraints: taskConstraints(spec), acceptanceCriteria: spec.acceptance.successCriteria };
  return work.flatMap((task) =>
    (['constraints', 'acceptanceCriteria'] as const).flatMap((field) => {
      const own = new Set(task[field]);
      const missing = wanted[field].find((entry) => !own.has(entry));
      if (missing === undefined) return [];
      const message = `task ${quoted(task.key)} lost ${quoted(missing)} of its \`${field}\``;
      return problem('boundary-dropped', message, { key: task.key, field });
    }),
  );
}

function gateProblems(
  { tasks }: PlanDraft,
  work: readonly PlannedTask[],
  spec: EffectiveIntentSpec,
): readonly PlanProblem[] {
  const expected = gateTasks(spec, work);
  const gates = tasks.filter(({ kind }) => kind === 'gate');
  const found = new Map(gates.map((gate) => [gate.key, gate]));
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((entry, at) => entry === b[at]);
  const problems = expected.flatMap(({ key, steps, gateStages, dependsOn }) => {
    const gate = found.get(key);
    if (gate === undefined) return problem('gate-dropped', `the gate ${quoted(key)} is missing`, { key });
    if (!same(gate.steps, steps) || !same(gate.gateStages, gateStages))
      return problem('gate-changed', `the gate ${quoted(key)} has other checks than the spec`, { key });
    const before = allBefore(gate, byKey);
    const early = dependsOn.find((one) => !before.has(one));
    return early === undefined
      ? []
      : problem('gate-early', `the gate ${quoted(key)} does not wait for ${quoted(early)}`, {
          key,
          depends_on: early,
        });
  });
  const known = new Set(expected.map(({ key }) => key));
  const more = gates.flatMap(({ key }) =>
    known.has(key) ? [] : problem('gate-added', `the spec has no gate ${quoted(key)}`, { key }),
  );
  return [...problems, ...more];
}

function allBefore(task: PlannedTask, byKey: ReadonlyMap<string, PlannedTask>): ReadonlySet<string> {
  const seen = new Set<string>();
  const pending = [task];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const key of at.dependsOn) {
      const before = byKey.get(key);
      if (before === undefined || seen.has(key)) continue;
      seen.add(key);
      pending.push(before);
    }
  }
  return seen;
}

function problem(reason: string, message: string, detail: PlanProblem['detail']): PlanProblem {
  return { code: 'PLAN_INVALID', message, detail: { reason, ...detail } };
}
