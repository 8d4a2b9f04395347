import type { PlannedTask } from '../../core/interfaces/plan.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { appendIntentEvents, recordIntent, replanEvent } from '../intent/append-intent-events.ts';
import { revisePlan } from '../plan/revise-plan.ts';
import type { SettledAttempt } from '../record/attempt-files.ts';
import { implementationTasks, type PlanState } from '../record/plan-state.ts';
import type { OpenRun } from '../state/open-run.ts';
import { dropWork } from './merge-tasks.ts';
import { keepPlan } from './plan-work.ts';

/** What failed, of one Task or several; why is in the state. */
export interface FailedWork
  extends Pick<SettledAttempt, 'failure' | 'failedTests' | 'refusedPaths' | 'trigger'> {
  readonly keys: readonly string[];
}

/**
 * Starts the next plan revision: records it, adds it to the intent's changeLog, and drops the work that must be
 * repeated. The previous revision stays unchanged.
 */
export async function replan(run: OpenRun, state: PlanState, failed: FailedWork): Promise<void> {
  const {
    identity: { contract, runId },
    means: { store, settings, steps },
  } = run;
  const trigger = failed.trigger ?? 'repeated-test-fail';
  const draft = revisePlan(state.draft, {
    trigger,
    done: [...state.accepted.keys()].filter((key) => !failed.keys.includes(key)),
    failed: failed.keys,
    detail: failed.failure,
    paths: failed.refusedPaths ?? [],
    tests: failed.failedTests,
  });
  const { revision } = draft;
  await state.frames?.checkpoint(
    `${trigger} at ${failed.keys.join(', ').slice(0, 200)}: ${failed.failure.slice(0, 500)}`,
  );
  const nowMs = await steps.once(`replan/${revision}/at`, () => settings.clock.now());
  await steps.once(`replan/${revision}/plan`, () => keepPlan(run, draft));
  await steps.once(`replan/${revision}/event`, async () => {
    const event = replanEvent({
      by: schedulerOf(contract.effective).id,
      trigger,
      description: failed.failure,
      diffSummary: draft.revised?.diffSummary ?? '',
      run: runId,
      nowMs,
    });
    await appendIntentEvents(store, contract.effective.metadata.id, [event], {
      record: (before) => recordIntent(contract, before, nowMs),
    });
  });
  state.draft = draft;
  for (const key of draft.revised?.redo ?? []) {
    state.accepted.delete(key);
    if (failed.keys.includes(key)) continue;
    dropWork(state, key);
    state.onto.delete(key);
  }
}

/** Returns a failed candidate to the last Task: it continues from the merged tree, its work included. */
export function handBack(state: PlanState, tree: string, failure: string): PlannedTask {
  const task = lastTask(state);
  const done = state.accepted.get(task.key);
  if (done) state.beneath = [...state.beneath, done];
  state.accepted.delete(task.key);
  state.onto.set(task.key, tree);
  state.failure.set(task.key, failure);
  return task;
}

/**
 * Restarts a Task from its original base without its refused work. Dependants' work is merged with its next attempt.
 */
export function startOver(state: PlanState, key: string, failure: string): void {
  // If the Task worked on a merged candidate, its earlier work is in `beneath`.
  if (state.beneath.some((one) => one.key === key)) state.onto.delete(key);
  dropWork(state, key);
  state.failure.set(key, failure);
}

/** The last implementation Task without dependants. */
export function lastTask(state: PlanState): PlannedTask {
  const tasks = implementationTasks(state);
  const followed = new Set(tasks.flatMap(({ dependsOn }) => dependsOn));
  const task = tasks.findLast(({ key }) => !followed.has(key));
  if (!task) throw new TypeError('a plan without work');
  return task;
}
