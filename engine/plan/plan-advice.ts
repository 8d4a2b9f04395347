/* Adds a model's advice to a plan, and orders parts whose writes overlap. */
import { hasGlobCharacters, normalisePattern } from '../../core/base/glob.ts';
import { quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../../core/interfaces/patch-set.ts';
import { checkTaskGraph, type PlanDraft, type PlannedTask } from '../../core/interfaces/plan.ts';
import { scopeVerdict } from '../../spec/scope-verdict.ts';
import { fields, listOf, type TypeOf, text } from '../../store/shape.ts';
import { disjointSets, type WorkPart } from './decompose.ts';
import { WriteIndex } from './predicted-writes.ts';

const texts = listOf(text);
export const adviceShape = fields({ key: text, steps: texts, writes: texts, after: texts, checks: texts });

/** A model's advice for one Task of a plan: steps, files, order and checks. */
export type TaskAdvice = TypeOf<typeof adviceShape>;

const maxSteps = 30;
const maxStepCharacters = 2000;

/**
 * Adds a model's advice to a plan. Tasks, objectives, limits and gates come from the spec and stay. Advice adds
 * steps, files inside the scope, and order. Returns faults if the advice is invalid. Pure.
 */
export function withAdvice(
  draft: PlanDraft,
  advice: readonly TaskAdvice[],
  { spec, scope }: { readonly spec: EffectiveIntentSpec; readonly scope: Scope },
): PlanDraft | { readonly faults: readonly string[] } {
  const work = draft.tasks.filter(({ kind }) => kind === 'implementation');
  const objectives = new Set(spec.intent.objectives);
  const faults = [
    ...work.flatMap(({ key }) => {
      const said = advice.filter((one) => one.key === key).length;
      return said === 1 ? [] : [`expected ${quoted(key)} once, found it ${said} times`];
    }),
    ...advice.flatMap((one) => adviceFaults(one, scope, objectives)),
  ];
  if (faults.length > 0) return { faults };
  const byKey = new Map(advice.map((one) => [one.key, one]));
  const tasks = draft.tasks.map((task) => withOne(task, byKey.get(task.key)));
  const ordered = checkTaskGraph(tasks);
  if (!ordered.ok) return { faults: ordered.problems.map(({ message }) => message) };
  const order = ordered.order.filter(({ kind }) => kind === 'implementation');
  const conflicts = findConflicts(order.map(({ predictedWrites: writes }) => ({ writes })));
  const { conflictResolution } = spec.objmodel.planGeneration;
  if (conflictResolution !== 'force-serial' && conflicts.length > 0)
    return { faults: conflicts.map(({ path }) => `two tasks write ${quoted(path)}`) };
  const before = new Map<string, string[]>();
  for (const conflict of conflicts) {
    const [first, second] = [order[conflict.before]?.key, order[conflict.after]?.key];
    if (first !== undefined && second !== undefined)
      before.set(second, [...(before.get(second) ?? []), first]);
  }
  return {
    ...draft,
    tasks: tasks.map((task) => ({
      ...task,
      dependsOn: unique([...task.dependsOn, ...(before.get(task.key) ?? [])]),
    })),
  };
}

function adviceFaults(
  { key, steps, writes }: TaskAdvice,
  scope: Scope,
  objectives: ReadonlySet<string>,
): readonly string[] {
  const long = steps.some((step) => step.length > maxStepCharacters || /\p{Cc}/u.test(step));
  return [
    ...(steps.length > maxSteps || long
      ? [
          `expected of ${quoted(key)} at most ${maxSteps} steps of one line of ${maxStepCharacters} characters`,
        ]
      : []),
    ...(steps.some((step) => objectives.has(step)) ? [`a step of ${quoted(key)} is an objective`] : []),
    ...writes.flatMap((path) => {
      const isFile = normalisePattern(path) === path && !path.endsWith('/') && !hasGlobCharacters(path);
      if (!isFile) return [`${quoted(path)} is no file of the repository`];
      const verdict = scopeVerdict(scope, path);
      return verdict === 'in'
        ? []
        : [`${quoted(path)} is ${verdict === 'forbidden' ? 'out of' : 'not in'} scope`];
    }),
  ];
}

function withOne(task: PlannedTask, advice: TaskAdvice | undefined): PlannedTask {
  if (advice === undefined) return task;
  const { steps, writes, after, checks } = advice;
  const predicted = unique([...(task.predictedWrites ?? []), ...writes]);
  const checked = checks.length === 0 ? [] : [`checked by ${checks.join(', ')}`];
  return {
    ...task,
    steps: unique([...task.steps, ...steps, ...checked]),
    dependsOn: unique([...task.dependsOn, ...after]),
    ...(predicted.length === 0 ? {} : { predictedWrites: predicted }),
  };
}

function unique(entries: readonly string[]): readonly string[] {
  return [...new Set(entries)];
}

type ConflictResolution = EffectiveIntentSpec['objmodel']['planGeneration']['conflictResolution'];

/** Two parts (by index) that are expected to write the same place. */
export interface WriteConflict {
  readonly before: number;
  readonly after: number;
  readonly path: string;
}

/** A part and the parts (by index) that must come before it. */
export interface OrderedPart extends WorkPart {
  readonly after: readonly number[];
}

type ResolvedConflicts =
  | { readonly ok: true; readonly parts: readonly OrderedPart[] }
  | { readonly ok: false; readonly conflicts: readonly WriteConflict[] };

/**
 * Returns pairs of parts with overlapping writes, `before` < `after`. The list is not complete, but two parts overlap
 * only if pairs connect them. Unknown writes never overlap; the merge resolves them.
 */
export function findConflicts(parts: readonly Pick<WorkPart, 'writes'>[]): readonly WriteConflict[] {
  const index = new WriteIndex();
  return parts.flatMap(({ writes }, after) => {
    if (writes === undefined) return [];
    const found = new Map<number, string>();
    for (const text of writes)
      for (const { owner, path } of index.claim(text, after)) if (!found.has(owner)) found.set(owner, path);
    return Array.from(found, ([before, path]) => ({ before, after, path })).sort(
      (a, b) => a.before - b.before,
    );
  });
}

/**
 * Resolves overlapping writes by `objmodel.planGeneration.conflictResolution`: joins connected parts, orders them
 * from the first objective to the last, or returns the conflicts.
 */
export function resolveConflicts(parts: readonly WorkPart[], how: ConflictResolution): ResolvedConflicts {
  const conflicts = findConflicts(parts);
  if (how === 'fail-fast' && conflicts.length > 0) return { ok: false, conflicts };
  if (how === 'merge-tasks') return { ok: true, parts: merged(parts, conflicts) };
  const after = new Map<number, number[]>();
  for (const conflict of conflicts) {
    const known = after.get(conflict.after);
    if (known) known.push(conflict.before);
    else after.set(conflict.after, [conflict.before]);
  }
  return { ok: true, parts: parts.map((part, at) => ({ ...part, after: after.get(at) ?? [] })) };
}

function merged(parts: readonly WorkPart[], conflicts: readonly WriteConflict[]): readonly OrderedPart[] {
  const sets = disjointSets(parts.length);
  for (const { before, after } of conflicts) sets.join(before, after);
  const groups = new Map<number, WorkPart[]>();
  for (const [at, part] of parts.entries()) {
    const first = sets.of(at);
    const known = groups.get(first);
    if (known) known.push(part);
    else groups.set(first, [part]);
  }
  return [...groups.values()].map((members) => ({
    objectives: [...new Set(members.flatMap(({ objectives }) => objectives))].sort((a, b) => a - b),
    writes: members.some(({ writes }) => writes === undefined)
      ? undefined
      : [...new Set(members.flatMap(({ writes }) => writes ?? []))],
    after: [],
  }));
}
