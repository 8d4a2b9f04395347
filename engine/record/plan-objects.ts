/* The stored objects of a plan. */
import { uuidV7From } from '../../core/base/ids.ts';
import { edgesOf, type PlanDraft, type PlannedTask } from '../../core/interfaces/plan.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { schedulerOf } from '../../spec/facts.ts';
import type { ObjectBody } from '../../store/object-shapes.ts';
import { sealObject } from '../../store/stored-object.ts';
import type { RunIdentity } from '../state/open-run.ts';

type Planned = Pick<RunIdentity, 'runId' | 'startedAtMs' | 'threadId' | 'contract' | 'scope'>;

/** Object id of a revision of a run's plan: the same in every process. */
export function planIdOf(
  { runId, startedAtMs }: Pick<Planned, 'runId' | 'startedAtMs'>,
  revision: number,
): string {
  return uuidV7From(startedAtMs, `${runId}/plan/${revision}`);
}

/** Object id of a Task of a revision. */
export function taskIdOf(
  { runId, startedAtMs }: Pick<Planned, 'runId' | 'startedAtMs'>,
  revision: number,
  number: number,
): string {
  return uuidV7From(startedAtMs, `${runId}/plan/${revision}/task/${number}`);
}

/** Folder of a plan revision in the record while it is not the last one. */
export function planFolder(revision: number): string {
  return `plans/${String(revision).padStart(4, '0')}`;
}

/** Path of a Task in a run's record. */
function taskPath(number: number): string {
  return `tasks/${String(number).padStart(4, '0')}.json`;
}

/** A revision of the plan with its Tasks as the objects that are stored, by path: `plan.json` and `tasks/0001.json`… */
export function planFiles(run: Planned, draft: PlanDraft, nowMs: number): readonly [string, Uint8Array][] {
  const scheduler = {
    nowMs,
    createdBy: schedulerOf(run.contract.effective),
  } as const;
  const plan = sealObject('plan', planBody(run, draft), {
    ...scheduler,
    objectId: planIdOf(run, draft.revision),
  });
  const idOf = idsOf(run, draft);
  const tasks = draft.tasks.map((task): [string, Uint8Array] => [
    taskPath(task.number),
    sealObject('task', taskBody(run, draft, task, idOf), {
      ...scheduler,
      objectId: taskIdOf(run, draft.revision, task.number),
    }).bytes,
  ]);
  return [['plan.json', plan.bytes], ...tasks];
}

function planBody(run: Planned, draft: PlanDraft): ObjectBody<'plan'> {
  const { scope, threadId, contract } = run;
  const idOf = idsOf(run, draft);
  const byObjective = new Map(
    draft.tasks
      .filter(({ kind }) => kind === 'implementation')
      .toReversed()
      .flatMap((task) => task.steps.map((step) => [step, task.key] as const)),
  );
  return {
    intent: threadId,
    revision: draft.revision,
    steps: contract.effective.intent.objectives.map((objective) => {
      const key = byObjective.get(objective);
      return { objective, ...(key === undefined ? {} : { task: idOf(key) }) };
    }),
    tasks: draft.tasks.map(({ key }) => idOf(key)),
    edges: edgesOf(draft).map(([before, after]) => [idOf(before), idOf(after)]),
    scope: { write: scope.write, forbidden: scope.forbidden, whole_repository: scope.wholeRepository },
    stages: [...stageNames],
    ...(draft.revised === undefined
      ? {}
      : {
          previous: planIdOf(run, draft.revised.previous),
          reason: draft.revised.trigger,
          diff_summary: draft.revised.diffSummary,
        }),
  };
}

function taskBody(
  run: Planned,
  draft: PlanDraft,
  task: PlannedTask,
  idOf: (key: string) => string,
): ObjectBody<'task'> {
  const [stage] = task.gateStages;
  return {
    intent: run.threadId,
    plan: planIdOf(run, draft.revision),
    title: task.title,
    goal: task.goal,
    steps: task.steps,
    constraints: task.constraints,
    acceptance_criteria: task.acceptanceCriteria,
    depends_on: task.dependsOn.map(idOf),
    number: task.number,
    kind: task.kind,
    ...(stage === undefined || task.gateStages.length > 1 ? {} : { gate_stage: stage }),
    ...(task.predictedWrites === undefined ? {} : { predicted_writes: task.predictedWrites }),
  };
}

function idsOf(run: Planned, draft: PlanDraft): (key: string) => string {
  const numbers = new Map(draft.tasks.map(({ key, number }) => [key, number]));
  return (key) => taskIdOf(run, draft.revision, numbers.get(key) ?? 0);
}
