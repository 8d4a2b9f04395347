import { quoted } from '../base/quoted.ts';
import { maxPlanProblems, type PlanProblem } from './plan-problem.ts';

/** What the graph needs to know of a Task. */
export interface GraphTask {
  readonly key: string;
  readonly number: number;
  readonly dependsOn: readonly string[];
}

type CheckedGraph<T> =
  | {
      readonly ok: true;
      /** Every Task after those it depends on; by number where dependencies leave it open. */
      readonly order: readonly T[];
    }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

export const maxTasks = 100_000;
const maxDependencies = 1_000_000;
const maxCycleKeys = 100;

/**
 * Judges a draft from anywhere and orders it: PLAN_INVALID for an empty or too large plan, keys or numbers given twice,
 * a dependency that is unknown, given twice or on the Task itself; PLAN_CYCLE with the keys of one cycle. Linear, but
 * for sorting by number.
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

/** Depth first over an explicit stack: a chain of 100,000 tasks is no recursion. */
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
