/* Merges the accepted work of Tasks. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import type { PlannedTask } from '../../core/interfaces/plan.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { SettledAttempt } from '../record/attempt-files.ts';
import { implementationTasks, type PlanState } from '../record/plan-state.ts';
import type { OpenRun } from '../state/open-run.ts';

/** What an accepted attempt made of its base. */
interface AcceptedWork {
  readonly number: number;
  readonly baseTree: string;
  readonly tree: string;
}

/** The merged tree, or the first work (in order) that conflicts with the tree before it. */
export type MergedWork =
  | { readonly tree: string; readonly conflict?: undefined }
  | {
      readonly tree?: undefined;
      readonly conflict: {
        /** Its place among the work that was to be merged. */
        readonly at: number;
        readonly onto: string;
        readonly paths: readonly string[];
      };
    };

/** The merged tree if each work starts from the tree before it, so that no merge is needed. */
function stackedTree(base: string, accepted: readonly AcceptedWork[]): string | undefined {
  let at = base;
  for (const { baseTree, tree } of accepted) {
    if (at === baseTree || at === tree) at = tree;
    else if (tree !== baseTree) return undefined;
  }
  return at;
}

/** Merges what accepted work did onto `base`, in the order given (dependencies before dependants). */
async function mergeTasks(
  scratch: Scratch,
  base: string,
  accepted: readonly AcceptedWork[],
): Promise<MergedWork> {
  let tree = base;
  for (const [at, work] of accepted.entries()) {
    const merged = await mergeTrees(scratch, work.baseTree, tree, work.tree);
    if (merged.conflicts !== undefined) return { conflict: { at, onto: tree, paths: merged.conflicts } };
    tree = merged.tree;
  }
  return { tree };
}

/** The tree after each accepted work is merged, in that order; `undefined` on a conflict. */
export async function treesOf(
  scratch: Scratch,
  base: string,
  accepted: readonly AcceptedWork[],
): Promise<readonly string[] | undefined> {
  const trees: string[] = [];
  for (const work of accepted) {
    const { tree } = await mergeTrees(scratch, work.baseTree, trees.at(-1) ?? base, work.tree);
    if (tree === undefined) return undefined;
    trees.push(tree);
  }
  return trees;
}

/**
 * Returns accepted work in merge order: each Task's first work, in plan order, then work done on merged candidates. A
 * Task that is repeated changes the base of its dependants, not their work. `among`: only these Tasks.
 */
export function acceptedWork(state: PlanState, among?: ReadonlySet<string>): readonly SettledAttempt[] {
  const firsts = new Map<string, SettledAttempt>();
  const later: SettledAttempt[] = [];
  for (const one of state.beneath) {
    if (firsts.has(one.key)) later.push(one);
    else firsts.set(one.key, one);
  }
  const tasks = implementationTasks(state);
  for (const { key } of tasks) {
    const last = state.accepted.get(key);
    if (last === undefined) continue;
    if (firsts.has(key)) later.push(last);
    else firsts.set(key, last);
  }
  return [...tasks.flatMap(({ key }) => firsts.get(key) ?? []), ...later].filter(
    ({ key }) => among === undefined || among.has(key),
  );
}

/** Accepted work of everything that a Task builds on. */
export function workBefore(state: PlanState, task: PlannedTask): readonly SettledAttempt[] {
  if (task.dependsOn.length === 0) return [];
  const tasks = implementationTasks(state);
  const byKey = new Map(tasks.map((one) => [one.key, one]));
  const found = new Set(task.dependsOn);
  // A set is iterated over what is added to it meanwhile.
  for (const key of found) {
    for (const before of byKey.get(key)?.dependsOn ?? []) found.add(before);
    if (!state.onto.has(key)) continue;
    // It was started on what all before it had made.
    const at = tasks.findIndex((one) => one.key === key);
    for (const other of tasks.slice(0, at)) found.add(other.key);
  }
  return acceptedWork(state, found);
}

/** What the work of a run starts from: its base, with the local changes that the user included before the work. */
export function workBase({ identity, environment }: Pick<OpenRun, 'identity' | 'environment'>): string {
  return identity.local?.included?.tree ?? environment.base.tree;
}

/** Merges that work onto the run's base. Cached by its inputs, so a resumed run repeats no merge. */
export async function mergeWork(run: OpenRun, work: readonly SettledAttempt[]): Promise<MergedWork> {
  const base = workBase(run);
  const tree = stackedTree(base, work);
  if (tree !== undefined) return { tree };
  const key = canonicalDigest([base, ...work.map((one) => [one.baseTree, one.tree])]).slice(0, 32);
  return run.services.steps.once(`merge/${key}`, () => mergeTasks(run.services.scratch, base, work));
}

/** Drops what a Task did, from its work number `from` on (from 0): it is done again. */
export function dropWork(state: PlanState, key: string, from = 0): void {
  state.accepted.delete(key);
  let seen = 0;
  state.beneath = state.beneath.filter((one) => one.key !== key || seen++ < from);
}
