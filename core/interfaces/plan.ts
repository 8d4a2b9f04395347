/* Plans: Tasks, their order, the triggers of a replan, and the checks on plans from outside. */
import { quoted } from '../base/printable.ts';
import type { ReplanTrigger } from './intentspec.gen.ts';
import type { StageName } from './stage.ts';

/** A Task before it is stored. Plain data; keys and numbers are stable over resumes and revisions. */
export interface PlannedTask {
  /** Unique in its plan: `task-1`, `gate-fast`, `gate`. */
  readonly key: string;
  /** From 1, unique: the order of Tasks that dependencies do not order. */
  readonly number: number;
  readonly kind: 'implementation' | 'gate';
  /** `intent.summary`; for a gate, a text that names its checks. */
  readonly title: string;
  /** `intent.changeType`, or `gate`. */
  readonly goal: string;
  /** The objectives it covers, verbatim; the check ids of a gate. */
  readonly steps: readonly string[];
  readonly constraints: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  /** Paths, directories and globs that it is expected to write. Absent: unknown, resolved at merge. */
  readonly predictedWrites?: readonly string[];
  /** Keys of the Tasks before it. */
  readonly dependsOn: readonly string[];
  /** The stages of a gate, in the order they run. Empty for an implementation Task. */
  readonly gateStages: readonly StageName[];
}

/** Why a plan follows another one, and which Tasks it keeps. */
export interface PlanRevision {
  /** Revision of the plan before. */
  readonly previous: number;
  readonly trigger: ReplanTrigger;
  /** 1 to 4000 characters, for the changeLog entry. */
  readonly diffSummary: string;
  /** Keys of Tasks that stay done. */
  readonly kept: readonly string[];
  /** Keys of Tasks to plan again: the failed one and its dependents. */
  readonly redo: readonly string[];
}

/** The Tasks of a Plan and their order. Immutable; `revisePlan` makes the next one. */
export interface PlanDraft {
  readonly revision: number;
  readonly tasks: readonly PlannedTask[];
  readonly revised?: PlanRevision;
}

/** Why planning failed. A value, not an exception: the caller that needs the plan turns it into an error. */
export interface PlanProblem {
  readonly code: 'PLAN_INVALID' | 'PLAN_CYCLE' | 'PLAN_CONFLICT' | 'PLAN_DUPLICATE_OBJECTIVE';
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Problems beyond these are counted, not listed. */
export const maxPlanProblems = 100;

/** The part of a Task that its graph needs. */
export interface GraphTask {
  readonly key: string;
  readonly number: number;
  readonly dependsOn: readonly string[];
}

type CheckedGraph<T> =
  | {
      readonly ok: true;
      /** Every Task after its dependencies; by number where dependencies leave the order open. */
      readonly order: readonly T[];
    }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

export const maxTasks = 100_000;
const maxDependencies = 1_000_000;
const maxCycleKeys = 100;

/**
 * Validates a draft plan from any source and sorts it. PLAN_INVALID: the plan is empty or too large, a key or number
 * is duplicate, or a dependency is unknown, duplicate or on the Task itself. PLAN_CYCLE names the keys of one cycle.
 * Runs in linear time, except for the sort by number.
 */
export function checkTaskGraph<T extends GraphTask>(tasks: readonly T[]): CheckedGraph<T> {
  const edges = tasks.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
  if (tasks.length === 0) return refused([invalid('empty', 'expected at least one task, found none', {})]);
  if (tasks.length > maxTasks || edges > maxDependencies) {
    const found = `${tasks.length} tasks and ${edges} dependencies`;
    const expected = `${maxTasks} tasks and ${maxDependencies} dependencies`;
    return refused([
      invalid('too-large', `expected at most ${expected}, found ${found}`, { tasks: tasks.length, edges }),
    ]);
  }
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const problems = [...doubles(tasks), ...wrongDependencies(tasks, byKey)];
  return problems.length > 0 ? refused(problems) : inOrder(tasks, byKey);
}

function doubles(tasks: readonly GraphTask[]): readonly PlanProblem[] {
  const keys = new Set<string>();
  const numbers = new Set<number>();
  const problems: PlanProblem[] = [];
  for (const { key, number } of tasks) {
    if (keys.has(key))
      problems.push(invalid('duplicate-key', `two tasks are called ${quoted(key)}`, { key }));
    if (!Number.isSafeInteger(number) || number < 1 || numbers.has(number)) {
      const message = `expected task ${quoted(key)} to have a number of its own from 1, found \`${number}\``;
      problems.push(invalid('bad-number', message, { key, number }));
    }
    keys.add(key);
    numbers.add(number);
  }
  return problems;
}

function wrongDependencies<T extends GraphTask>(
  tasks: readonly T[],
  byKey: ReadonlyMap<string, T>,
): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const { key, dependsOn } of tasks) {
    const seen = new Set<string>();
    for (const before of dependsOn) {
      const place = { key, depends_on: before };
      if (before === key)
        problems.push(invalid('self-dependency', `task ${quoted(key)} depends on itself`, place));
      else if (!byKey.has(before))
        problems.push(
          invalid(
            'unknown-dependency',
            `task ${quoted(key)} depends on ${quoted(before)}, which is no task`,
            place,
          ),
        );
      else if (seen.has(before))
        problems.push(
          invalid('duplicate-dependency', `task ${quoted(key)} depends twice on ${quoted(before)}`, place),
        );
      seen.add(before);
    }
  }
  return problems;
}

/** Depth first with an explicit stack, so that a chain of 100,000 tasks does not overflow the call stack. */
function inOrder<T extends GraphTask>(tasks: readonly T[], byKey: ReadonlyMap<string, T>): CheckedGraph<T> {
  const order: T[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const sorted = [...tasks].sort((a, b) => a.number - b.number);
  for (const start of sorted) {
    if (state.has(start.key)) continue;
    state.set(start.key, 'open');
    const stack = [{ task: start, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const key = top.task.dependsOn[top.next];
      top.next += 1;
      const before = key === undefined ? undefined : byKey.get(key);
      if (before === undefined) {
        state.set(top.task.key, 'done');
        order.push(top.task);
        stack.pop();
      } else if (state.get(before.key) === 'open') {
        const path = stack.map(({ task }) => task);
        return refused([cycle(path.slice(path.findIndex((task) => task.key === before.key)))]);
      } else if (!state.has(before.key)) {
        state.set(before.key, 'open');
        stack.push({ task: before, next: 0 });
      }
    }
  }
  return { ok: true, order };
}

/** Each key waits for the next, the last for the first; it starts with the lowest number. */
function cycle(path: readonly GraphTask[]): PlanProblem {
  const lowest = path.reduce((low, task, at) => (task.number < (path[low]?.number ?? 0) ? at : low), 0);
  const keys = [...path.slice(lowest), ...path.slice(0, lowest)].map(({ key }) => key);
  const shown = keys.slice(0, 8).map(quoted).join(' → ');
  const rest = keys.length > 8 ? ` → (${keys.length - 8} more)` : '';
  return {
    code: 'PLAN_CYCLE',
    message: `expected tasks that can be ordered, found a cycle: ${shown}${rest} → ${quoted(keys[0] ?? '')}`,
    detail: { cycle: keys.slice(0, maxCycleKeys), length: keys.length },
  };
}

function invalid(reason: string, message: string, detail: PlanProblem['detail']): PlanProblem {
  return { code: 'PLAN_INVALID', message, detail: { reason, ...detail } };
}

function refused(problems: readonly PlanProblem[]): { ok: false; problems: readonly PlanProblem[] } {
  return { ok: false, problems: problems.slice(0, maxPlanProblems) };
}

export type { ReplanTrigger } from './intentspec.gen.ts';

/** Triggers for a revision of the Plan (`execution.replan.triggers`), in the order in which reasons list them. */
export const replanTriggers = [
  'evidence-conflict',
  'scope-creep',
  'repeated-test-fail',
  'security-gate-fail',
  'unknown-api',
] as const satisfies readonly ReplanTrigger[];
