/* Drafts, reviews and revises the plan of a run. */
import { openTurns } from '../../agent/model-loop/model-turns.ts';
import { openTreeTools } from '../../agent/workspace-tools/tree-tools.ts';
import { WritError } from '../../core/base/errors.ts';
import { checkTaskGraph, type PlanDraft, type PlannedTask } from '../../core/interfaces/plan.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { recordIntent, replanEvent, writeIntentEvents } from '../intent/append-intent-events.ts';
import { askedOf } from '../open/open-parties.ts';
import { draftPlan, readPlanEnvironment } from '../open/plan-environment.ts';
import { type TaskAdvice, withAdvice } from '../plan/plan-advice.ts';
import { planFor, toPlanFault } from '../plan/plan-tasks.ts';
import { revisePlan } from '../plan/revise-plan.ts';
import type { SettledAttempt } from '../record/attempt-files.ts';
import type { EvaluatedRun } from '../record/evaluation-objects.ts';
import { implementationTasks, type PlanState } from '../record/plan-state.ts';
import { planFiles, planFolder } from '../record/work-objects.ts';
import { instructionsOf } from '../state/context-snapshot.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';
import { keepAdviceSpent } from '../state/spent.ts';
import { dropWork } from './merge-tasks.ts';
import { requestAdvice, workKeys } from './request-advice.ts';

/**
 * Drafts a run's plan once and checks it: first from the spec, then through plugins that change drafts, then with the
 * advice of the worker's model. Throws PLAN_* errors.
 */
export async function planWork(run: OpenRun): Promise<PlanDraft> {
  return run.services.steps.once('plan/1', async () => {
    const draft = await advisePlan(run, run.services.draft ?? (await draftAgain(run)));
    await keepPlan(run, draft);
    return draft;
  });
}

/** For a run that was stopped before its plan was kept. */
async function draftAgain({
  identity: { contract, scope, isWorked },
  services: { engine, scratch, worker },
  environment,
}: OpenRun): Promise<PlanDraft> {
  const spec = contract.effective;
  return draftPlan(askedOf(engine), {
    spec,
    scope,
    for: planFor(isWorked, worker),
    environment: await readPlanEnvironment(scratch, environment.base.tree, spec),
  });
}

/** Writes a plan revision into the record after its graph was checked; earlier revisions stay. */
async function keepPlan(run: OpenRun, draft: PlanDraft): Promise<void> {
  const checked = checkTaskGraph(draft.tasks);
  if (!checked.ok) throw toPlanFault(checked.problems);
  const nowMs = await run.services.steps.once(`plan/${draft.revision}/at`, () =>
    run.services.settings.clock.now(),
  );
  const folder = planFolder(draft.revision);
  await run.services.record.put(
    planFiles(run.identity, draft, nowMs).map(([path, bytes]) => [`${folder}/${path}`, bytes]),
  );
}

/** File in the record: the model's advice call about the plan and its outcome. */
const adviceFile = 'plan-advice.json';

/**
 * Adds the worker model's advice to a plan with several Tasks, if there is a model. If the advice is unusable, the
 * spec's own plan stays; both cases are recorded. An error of the model call stops the run, which can be resumed.
 * Advice that a person confirmed before the run is used without a call.
 */
async function advisePlan(run: OpenRun, draft: PlanDraft): Promise<PlanDraft> {
  const { worker, model, scratch, engine, signal, advice } = run.services;
  const { contract, scope, runId } = run.identity;
  if (advice !== undefined) return confirmedPlan(run, draft, advice);
  if (worker?.draft === undefined || model === undefined || workKeys(draft).length < 2) return draft;
  // An agent program plans each attempt itself, if it is instructed to.
  if (model.agent !== undefined) return draft;
  const { called } = run.services.calls;
  const guides = await instructionsOf(run);
  const turns = openTurns(run, model, { called, instructions: guides.files });
  const { end, taken } = await requestAdvice({
    drafter: { draft: worker.draft },
    plan: draft,
    spec: contract.effective,
    scope,
    ...(guides.text === undefined ? {} : { remarks: [guides.text] }),
    cacheKey: `${contract.digest.slice(0, 40)}/plan`,
    hands: openTreeTools({
      engine,
      repository: scratch,
      tree: run.environment.base.tree,
      runId,
      policy: policyOf(run),
      signal,
    }),
    turns,
  });
  const { notices, requests, models: _, ...spent } = turns.taken();
  await keepAdviceSpent(run.services.steps, spent);
  await keep(run, {
    taken: end.kind === 'taken',
    ...(end.kind === 'nothing' ? { reason: end.reason } : {}),
    provider: model.provider.name,
    model: model.model,
    ...spent,
    notices,
    requests,
  });
  return taken?.plan ?? draft;
}

/** Throws PLAN_INVALID if the confirmed advice does not fit the spec, because no other plan was confirmed. */
async function confirmedPlan(
  run: OpenRun,
  draft: PlanDraft,
  advice: readonly TaskAdvice[],
): Promise<PlanDraft> {
  const { contract, scope } = run.identity;
  const made = withAdvice(draft, advice, { spec: contract.effective, scope });
  if ('faults' in made)
    throw new WritError('PLAN_INVALID', {
      message: `the confirmed plan does not fit the spec: ${made.faults[0] ?? ''}`,
      detail: { faults: made.faults },
    });
  await keep(run, { taken: true, confirmed: true });
  return made;
}

async function keep(run: OpenRun, told: object): Promise<void> {
  await run.services.record.put([[adviceFile, Buffer.from(`${JSON.stringify(told, null, 1)}\n`)]]);
}

/** Calls every plan reviewer before any work begins. */
export async function reviewPlan({
  identity: { contract, runId, scope },
  services: { engine },
}: Pick<OpenRun, 'identity' | 'services'>): Promise<void> {
  const spec = contract.effective;
  const { summary, objectives } = spec.intent;
  await engine.hooks.plan.review.call({
    runId,
    spec,
    scope,
    tasks: [{ title: summary, steps: objectives }],
    stages: stageNames.filter((stage) => spec.acceptance.verificationPlan[`${stage}Checks`].length > 0),
  });
}

/** The first fired trigger that the spec enables. */
export function triggerOf({ input }: Pick<EvaluatedRun, 'input'>): SettledAttempt['trigger'] {
  return input.triggers.fired.find((trigger) => input.triggers.enabled.includes(trigger));
}

/** Retries are counted per Task. */
export function taskFacts(
  run: OpenRun,
  { key, attempt }: Pick<SettledAttempt, 'key' | 'attempt'>,
): { readonly id: string; readonly attempt: number; readonly maxRetries: number } {
  return { id: key, attempt, maxRetries: run.identity.contract.effective.execution.retry.maxRetries };
}

/** What failed, of one Task or several; why is in the state. */
interface FailedWork extends Pick<SettledAttempt, 'failure' | 'failedTests' | 'refusedPaths' | 'trigger'> {
  readonly keys: readonly string[];
}

/**
 * Starts the next plan revision: records it, adds it to the intent's changeLog, and drops the work that must be
 * repeated. The previous revision stays unchanged.
 */
export async function replan(run: OpenRun, state: PlanState, failed: FailedWork): Promise<void> {
  const {
    identity: { contract, runId },
    services: { store, settings, steps },
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
    await writeIntentEvents(store, contract.effective.metadata.id, [event], {
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
export function returnTasks(state: PlanState, tree: string, failure: string): PlannedTask {
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
