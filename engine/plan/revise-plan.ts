/* Makes the next revision of a plan after a failure. */
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { ReplanTrigger } from '../../core/interfaces/intentspec.gen.ts';
import type { PlanDraft, PlannedTask } from '../../core/interfaces/plan.ts';

/** What set off a replan, and how far the plan had come. */
export interface ReplanReason {
  readonly trigger: ReplanTrigger;
  /** Keys of Tasks that are done. */
  readonly done: readonly string[];
  /** Keys of the Tasks that failed, at least one. */
  readonly failed: readonly string[];
  /** Untrusted text. */
  readonly detail: string;
  /** For `scope-creep`: the paths that were refused. */
  readonly paths?: readonly string[];
  /** For `repeated-test-fail`: names of the failing tests. */
  readonly tests?: readonly string[];
}

const maxSummaryLength = 4000;
const maxDetailLength = 1500;
const maxNamed = 20;
const maxRefusedPaths = 100;
const testsPrefix = 'failing-tests:';

/**
 * Returns the next revision of a plan. Done Tasks stay done; failed Tasks and all that depend on them are planned
 * again. A refused path becomes an `out-of-scope:` constraint of the failed Tasks, and failing tests become a
 * `failing-tests:` constraint. The previous plan is not modified.
 */
export function revisePlan(plan: PlanDraft, reason: ReplanReason): PlanDraft {
  const done = new Set(reason.done);
  const known = new Set(plan.tasks.map(({ key }) => key));
  const failed = new Set(reason.failed);
  const stranger = [...failed, ...done].find((key) => !known.has(key));
  if (stranger !== undefined)
    throw new WritError('INTERNAL', {
      message: `a replan names the task ${quoted(stranger)}, which the plan does not have`,
    });
  const again = dependents(plan.tasks, failed);
  const kept = plan.tasks.filter(({ key }) => done.has(key) && !again.has(key)).map(({ key }) => key);
  const redo = plan.tasks.filter(({ key }) => again.has(key)).map(({ key }) => key);
  const left = plan.tasks.length - kept.length - redo.length;
  const tasks = plan.tasks.map((task) =>
    failed.has(task.key) ? { ...task, constraints: withLessons(task.constraints, reason) } : task,
  );
  const previous = plan.revision;
  const diffSummary = summaryOf(reason, previous, kept, redo, left);
  return {
    revision: previous + 1,
    tasks,
    revised: { previous, trigger: reason.trigger, diffSummary, kept, redo },
  };
}

/** Whether a constraint quotes names of tests: untrusted text, which a model may only see as such. */
export function quotesTests(constraint: string): boolean {
  return constraint.startsWith(testsPrefix);
}

/** These and every Task that depends on one of them, through others too. */
function dependents(tasks: readonly PlannedTask[], keys: ReadonlySet<string>): ReadonlySet<string> {
  const followers = new Map<string, string[]>();
  for (const task of tasks) {
    for (const before of task.dependsOn) {
      const known = followers.get(before);
      if (known) known.push(task.key);
      else followers.set(before, [task.key]);
    }
  }
  const seen = new Set(keys);
  // A set is iterated over what is added to it meanwhile.
  for (const at of seen) for (const follower of followers.get(at) ?? []) seen.add(follower);
  return seen;
}

function withLessons(constraints: readonly string[], reason: ReplanReason): readonly string[] {
  const { trigger, paths = [], tests = [] } = reason;
  if (trigger === 'scope-creep' && paths.length > 0) {
    const refused = paths.slice(0, maxRefusedPaths).map((path) => `out-of-scope:${bare(path)}`);
    return [...new Set([...constraints, ...refused])];
  }
  if (trigger === 'repeated-test-fail' && tests.length > 0) {
    const others = constraints.filter((entry) => !quotesTests(entry));
    return [...others, `${testsPrefix}${listed(tests)}`];
  }
  return constraints;
}

function summaryOf(
  { trigger, failed, detail, paths = [], tests = [] }: ReplanReason,
  previous: number,
  kept: readonly string[],
  redo: readonly string[],
  left: number,
): string {
  const lines = [
    `revision ${previous + 1} follows ${previous}: ${trigger} at ${listed(failed)}`,
    `kept: ${kept.length === 0 ? 'no task was done' : listed(kept)}`,
    `to redo: ${listed(redo)}`,
    ...(left > 0 ? [`unchanged: ${left} more`] : []),
    ...(trigger === 'scope-creep' && paths.length > 0
      ? [`refused paths, now out of scope: ${listed(paths)}`]
      : []),
    ...(trigger === 'repeated-test-fail' && tests.length > 0 ? [`failing tests: ${listed(tests)}`] : []),
    ...(detail.trim() === '' ? [] : [`why: ${clipped(detail.trim(), maxDetailLength)}`]),
  ];
  return clipped(lines.join('\n'), maxSummaryLength);
}

/** At most 20 names, each in backticks and bounded; the rest is counted. */
function listed(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return `${names.slice(0, maxNamed).map(quoted).join(', ')}${more}`;
}

/** A path as one line of a constraint. */
function bare(path: string): string {
  return path
    .toWellFormed()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?')
    .slice(0, 4096);
}

function clipped(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}
