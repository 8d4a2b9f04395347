import { canonicalDigest } from '../../../core/base/canonical.ts';
import type { PlannedTask } from '../../../core/contract/plan-draft.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import { isCheckpointDue, taskLimit } from '../decide/budget.ts';
import { decideRun } from '../decide/decide-run.ts';
import { nobodyYet } from '../record/nobody-yet.ts';
import {
  addAttempt,
  attemptsAt,
  implementationTasks,
  type PlanState,
  sensedBefore,
} from '../record/plan-state.ts';
import { recordCheckpoint } from '../record/record-checkpoint.ts';
import type { SettledAttempt } from '../record/settled-attempt.ts';
import type { OpenRun } from '../state/attempt.ts';
import { parallelLimit } from '../state/parallel-limit.ts';
import { retryWaitSeconds, waitUntil } from './backoff.ts';
import { beginAttempt } from './begin-attempt.ts';
import { type MergedWork, mergeTasks } from './merge-tasks.ts';
import { replan } from './replan.ts';
import { schedule } from './schedule.ts';
import { taskFacts } from './task-facts.ts';
import { triggerOf } from './trigger-of.ts';
import { type JudgedAttempt, workTask } from './work-task.ts';

/** How the work on a plan ended: a merged tree, or an attempt whose decision ends or suspends the run. */
export type PlanEnd =
  | { readonly kind: 'merged'; readonly tree: string; readonly only?: JudgedAttempt }
  | { readonly kind: 'ended'; readonly last: JudgedAttempt };

/**
 * Works every Task of the plan to an accepted attempt and merges them: in parallel where writes allow, retried and
 * replanned as the contract says. Everything it does is a step, so a later process comes to the same place.
 */
export async function workPlan(run: OpenRun, state: PlanState): Promise<PlanEnd> {
  for (;;) {
    const worked = await workTasks(run, state);
    const stopped = worked.ended ?? (await mergeOrSettle(run, state, worked.judged));
    if ('tree' in stopped) return stopped;
    const { next } = stopped.settled.decision;
    if (next === 'retry') continue;
    if (next !== 'replan') return { kind: 'ended', last: stopped };
    await replan(run, state, stopped.settled);
  }
}

interface Worked {
  readonly judged: ReadonlyMap<string, JudgedAttempt>;
  /** An attempt that no further one of its Task may follow. */
  readonly ended?: JudgedAttempt;
}

async function workTasks(run: OpenRun, state: PlanState): Promise<Worked> {
  const spec = run.identity.contract.effective;
  const tasks = implementationTasks(state);
  const judged = new Map<string, JudgedAttempt>();
  const endings: JudgedAttempt[] = [];
  const limit = parallelLimit(spec, Number.POSITIVE_INFINITY);
  await schedule({
    tasks,
    done: state.accepted.keys(),
    limit: () => taskLimit(limit, { limitUnits: state.costLimit, usedUnits: state.costUnits }),
    signal: run.means.signal,
    work: async (task) => {
      const last = await settleTask(run, state, task);
      if (!last) return 'stop';
      judged.set(task.key, last);
      if (last.settled.decision.next === 'merge') return 'done';
      endings.push(last);
      return 'stop';
    },
  });
  // Several may have ended side by side: what stops the run goes before what changes its plan, then the plan's own
  // order.
  const weight = ({ settled }: JudgedAttempt): number => (settled.decision.next === 'replan' ? 1 : 0);
  const [ended] = endings.sort((a, b) => weight(a) - weight(b) || a.settled.number - b.settled.number);
  return { judged, ...(ended === undefined ? {} : { ended }) };
}

/** Attempts at one Task until one counts or none may follow; `undefined` where what it depends on does not merge. */
async function settleTask(
  run: OpenRun,
  state: PlanState,
  task: PlannedTask,
): Promise<JudgedAttempt | undefined> {
  for (;;) {
    const before = attemptsAt(state, task.key);
    const baseTree = state.onto.get(task.key) ?? (await baseOf(run, state, task));
    if (baseTree === undefined) return undefined;
    if (before.length > 0) await waitForRetry(run, before);
    const previousFailure = state.failure.get(task.key);
    const judged = await workTask(run, state, {
      task,
      attempt: before.length + 1,
      baseTree,
      ...(previousFailure === undefined ? {} : { previousFailure }),
    });
    await account(run, state, judged.settled);
    const { next } = judged.settled.decision;
    if (next === 'merge') state.accepted.set(task.key, judged.settled);
    if (next !== 'retry') return judged;
    state.failure.set(task.key, judged.settled.failure);
  }
}

/** Sums an attempt up; the one that takes the run to 90 % of its cost cap leaves a Decision.Checkpoint. */
async function account(run: OpenRun, state: PlanState, settled: SettledAttempt): Promise<void> {
  const before = state.costUnits;
  addAttempt(state, settled);
  await state.frames?.add(settled);
  if (!isCheckpointDue(state.costLimit, before, state.costUnits)) return;
  const rationale = `${state.costUnits} of ${state.costLimit} cost units are used: one task at a time from here on`;
  await recordCheckpoint(run, 'budget', settled, rationale);
}

async function waitForRetry(run: OpenRun, before: readonly SettledAttempt[]): Promise<void> {
  const last = before.at(-1);
  if (!last) return;
  const { backoffSeconds } = run.identity.contract.effective.execution.retry;
  const seconds = retryWaitSeconds(backoffSeconds, before.length);
  const { clock } = run.means.settings;
  const due = await run.means.steps.once(`${last.name}/retry-at`, () => clock.now() + seconds * 1000);
  // A retry that was begun has waited.
  const next = `${nextName(last)}/settled`;
  if (run.means.steps.interrupted(next) || run.means.steps.ended(next)) return;
  await waitUntil(clock, due, run.means.signal);
}

function nextName({ name, attempt }: SettledAttempt): string {
  return name.replace(/\d+$/, String(attempt + 1));
}

/** The tree that a Task starts from: what its dependencies left, merged; `undefined` where that does not merge. */
async function baseOf(run: OpenRun, state: PlanState, task: PlannedTask): Promise<string | undefined> {
  const before = task.dependsOn.flatMap((key) => state.accepted.get(key) ?? []);
  return (await merge(run, before)).tree;
}

/** Accepted work on the plan's base, memorised by what goes in: a resumed run merges nothing twice. */
async function merge(run: OpenRun, work: readonly SettledAttempt[]): Promise<MergedWork> {
  const base = run.ground.base.tree;
  const [first] = work;
  if (!first) return { tree: base };
  if (work.length === 1) return { tree: first.tree };
  const key = canonicalDigest([base, ...work.map(({ tree }) => tree)]).slice(0, 32);
  return run.means.steps.once(`merge/${key}`, () => mergeTasks(run.means.scratch, base, work));
}

/** The merged candidate; where work does not merge, the attempt whose Task has to be done again, decided on. */
async function mergeOrSettle(
  run: OpenRun,
  state: PlanState,
  judged: Worked['judged'],
): Promise<Extract<PlanEnd, { kind: 'merged' }> | JudgedAttempt> {
  const tasks = implementationTasks(state);
  const followed = new Set(tasks.flatMap(({ dependsOn }) => dependsOn));
  // A Task that another one builds on is in that one's tree already.
  const ends = tasks
    .filter(({ key }) => !followed.has(key))
    .flatMap(({ key }) => state.accepted.get(key) ?? []);
  const isWhole = tasks.every(({ key }) => state.accepted.has(key));
  const merged = isWhole ? await merge(run, ends) : await firstConflict(run, state, tasks);
  if (merged.tree !== undefined) {
    const only = tasks.length === 1 ? judged.get(tasks[0]?.key ?? '') : undefined;
    return { kind: 'merged', tree: merged.tree, ...(only === undefined ? {} : { only }) };
  }
  return settleConflict(run, state, merged.conflict);
}

async function firstConflict(
  run: OpenRun,
  state: PlanState,
  tasks: readonly PlannedTask[],
): Promise<Extract<MergedWork, { tree?: undefined }>> {
  for (const task of tasks) {
    const merged = await merge(
      run,
      task.dependsOn.flatMap((key) => state.accepted.get(key) ?? []),
    );
    if (merged.conflict) return merged;
  }
  throw new TypeError('work stopped without a reason');
}

/**
 * Work that does not fit onto what others made is a failed attempt of its Task, which starts again on what they made.
 */
async function settleConflict(
  run: OpenRun,
  state: PlanState,
  { number, onto, paths }: NonNullable<MergedWork['conflict']>,
): Promise<JudgedAttempt> {
  const task = implementationTasks(state).find((one) => one.number === number);
  const accepted = task && state.accepted.get(task.key);
  if (!task || !accepted) throw new TypeError(`no accepted work of task ${number}`);
  const name = `${accepted.name}/conflict`;
  const inFull = async () => {
    const base = { commit: run.ground.base.commit, tree: accepted.baseTree };
    const attempt = beginAttempt(run, name, await normalisePatch(run.means.scratch, base, accepted.tree));
    const judged = await decideRun(attempt, {
      subject: 'attempt',
      task: taskFacts(run, accepted),
      worker: 'patch',
      conflicts: paths,
      findings: [],
      stages: [],
      dependencies: [],
      before: sensedBefore(state, task.key),
      human: nobodyYet(run),
      state,
    });
    return { attempt, judged };
  };
  const { judged } = await inFull();
  const failure = `does not merge with the work of other tasks in ${paths.slice(0, 20).join(', ')}: start from what they made`;
  state.failure.set(task.key, failure);
  state.onto.set(task.key, onto);
  for (const key of withFollowers(state, task.key)) state.accepted.delete(key);
  const trigger = triggerOf(judged);
  return {
    settled: {
      ...accepted,
      decision: judged.decision,
      failure,
      ...(trigger === undefined ? {} : { trigger }),
    },
    inFull,
  };
}

function withFollowers(state: PlanState, key: string): ReadonlySet<string> {
  const found = new Set([key]);
  // Dependants come after what they depend on.
  for (const task of implementationTasks(state)) {
    if (task.dependsOn.some((before) => found.has(before))) found.add(task.key);
  }
  return found;
}
