import { quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import {
  maxPlanProblems,
  type PlanDraft,
  type PlannedTask,
  type PlanProblem,
} from '../../core/interfaces/plan.ts';
import { gateTasks, type PlanFor, taskConstraints } from './plan-tasks.ts';

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
      return problem('gate-changed', `the gate ${quoted(key)} has other checks than the contract`, { key });
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
    known.has(key) ? [] : problem('gate-added', `the contract has no gate ${quoted(key)}`, { key }),
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
