/* The stored objects of a run's work: its plan, steps, Tasks and tool calls. */
import type { UsedTool } from '../../agent/tool-calls/tool-entry.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { PlanDraft, PlannedTask } from '../../core/interfaces/plan.ts';
import type { DecisionType } from '../../core/interfaces/run-view.ts';
import { type StageName, type StageRecord, stageNames, type ToolUse } from '../../core/interfaces/stage.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { type ObjectBody, objectShapes } from '../../store/object-shapes.ts';
import { workerToolsFolder } from '../../store/record/summaries.ts';
import { toStored } from '../../store/shape.ts';
import { type SealOptions, sealObject } from '../../store/stored-object.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Attempt, RunIdentity } from '../state/open-run.ts';

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
  return toStored(objectShapes.task, {
    ...task,
    intent: run.threadId,
    plan: planIdOf(run, draft.revision),
    dependsOn: task.dependsOn.map(idOf),
    ...(stage === undefined || task.gateStages.length > 1 ? {} : { gateStage: stage }),
  });
}

function idsOf(run: Planned, draft: PlanDraft): (key: string) => string {
  const numbers = new Map(draft.tasks.map(({ key, number }) => [key, number]));
  return (key) => taskIdOf(run, draft.revision, numbers.get(key) ?? 0);
}

/** What happened in one Run, for its events. */
export interface RunStory {
  /** Object id of the Run. */
  readonly run: string;
  readonly startedAtMs: number;
  /** When it was decided. */
  readonly decidedAtMs: number;
  readonly stages: readonly StageRecord[];
  readonly outcome: { readonly type: DecisionType; readonly next: string };
  /** The plan's steps that the Run is about. */
  readonly steps?: StepStory;
  /** What a worker used. */
  readonly tools?: readonly UsedTool[];
}

/** Steps of a plan, by index, and how far they are. */
export interface StepStory {
  readonly plan: string;
  readonly indexes: readonly number[];
  readonly status: ObjectBody<'plan_step_event'>['status'];
}

/** A gate of the plan, recorded as a Task. */
export interface GateTask {
  readonly task: string;
  readonly stages: readonly StageName[];
}

/**
 * Returns RunEvents, PlanStepEvents and ToolInvocations of a Run by path, in chronological order. The same story
 * gives the same bytes.
 */
export function eventFiles(attempt: Attempt, story: RunStory): readonly [string, Uint8Array][] {
  return [
    ...runEvents(attempt, story).map(([name, body, nowMs], index): [string, Uint8Array] => {
      const path = `events/${numbered(index)}-${name}.json`;
      return [path, sealObject('run_event', body, optionsOf(attempt, story, path, nowMs)).bytes];
    }),
    ...stepEvents(attempt, story),
    ...toolInvocations(attempt, story),
  ];
}

/** One TaskEvent per gate of the plan: what its stages came to. A gate that never started leaves none. */
export function gateEventFiles(
  attempt: Attempt,
  story: RunStory,
  gates: readonly GateTask[],
): readonly [string, Uint8Array][] {
  const byName = new Map<string, StageRecord>(story.stages.map((record) => [record.stage, record]));
  return gates.flatMap(({ task, stages }): [string, Uint8Array][] => {
    const judged = stages.flatMap((stage) => byName.get(stage) ?? []);
    const failed = judged.filter(({ status }) => status === 'failed');
    if (judged.length === 0 || (judged.length < stages.length && failed.length === 0)) return [];
    const waits = judged.some(({ status }) => status === 'waiting');
    const path = `events/gate-${stages.join('-')}.json`;
    const lost = story.outcome.type === 'abandon' ? 'abandoned' : 'attempt-failed';
    const body: ObjectBody<'task_event'> = {
      task,
      run: story.run,
      kind: failed.length > 0 ? lost : waits ? 'blocked' : 'accepted',
      attempt: 1,
      reason: judged.map(({ stage, status }) => `${stage}: ${status}`).join(', '),
    };
    const nowMs = Math.max(...judged.map((stage) => endOf(stage) ?? story.decidedAtMs));
    return [[path, sealObject('task_event', body, optionsOf(attempt, story, path, nowMs)).bytes]];
  });
}

type RunEventBody = readonly [name: string, body: ObjectBody<'run_event'>, nowMs: number];

function runEvents(
  { identity: { sandboxName }, patch, environment }: Pick<Attempt, 'identity' | 'patch' | 'environment'>,
  story: RunStory,
): readonly RunEventBody[] {
  const { run, stages, outcome, startedAtMs, decidedAtMs } = story;
  let lastMs = startedAtMs;
  return [
    [
      'started',
      {
        run,
        kind: 'started',
        data: { base_tree: patch.baseTree, target_ref: environment.target.ref, sandbox: sandboxName },
      },
      startedAtMs,
    ],
    ...stages.map((stage): RunEventBody => {
      // A stage without checks ends when the one before it did.
      lastMs = endOf(stage) ?? lastMs;
      const { status, expected, ran } = stage;
      const data = { stage: stage.stage, status, expected, ran };
      return [`stage-${stage.stage}`, { run, kind: 'stage-settled', data }, lastMs];
    }),
    ['decided', { run, kind: 'decided', data: { type: outcome.type, next: outcome.next } }, decidedAtMs],
  ];
}

function stepEvents(attempt: Attempt, story: RunStory): readonly [string, Uint8Array][] {
  const { steps } = story;
  if (!steps) return [];
  const tell = (index: number, status: StepStory['status'], nowMs: number): [string, Uint8Array] => {
    const path = `steps/${numbered(index)}-${status}.json`;
    const body = { plan: steps.plan, step: index, status };
    return [path, sealObject('plan_step_event', body, optionsOf(attempt, story, path, nowMs)).bytes];
  };
  return steps.indexes.flatMap((index) => [
    tell(index, 'in_progress', story.startedAtMs),
    ...(steps.status === 'in_progress' ? [] : [tell(index, steps.status, story.decidedAtMs)]),
  ]);
}

/**
 * One ToolInvocation per tool use of a check, and one per tool use of a worker, with digests of arguments and
 * results.
 */
function toolInvocations(attempt: Attempt, story: RunStory): readonly [string, Uint8Array][] {
  const byChecks = story.stages.flatMap(({ checks }) =>
    checks.flatMap((check) => (check.tools ?? []).map((use) => ({ check, use }))),
  );
  return [
    ...byChecks.map(({ check, use }, index) =>
      toolInvocation(attempt, story, `tools/${numbered(index)}-${encodeId(check.id)}.json`, {
        ...use,
        checkId: check.id,
      }),
    ),
    ...(story.tools ?? []).map((use, index) =>
      toolInvocation(attempt, story, `${workerToolsFolder}${numbered(index)}.json`, use),
    ),
  ];
}

function toolInvocation(
  attempt: Attempt,
  story: RunStory,
  path: string,
  use: (ToolUse & { readonly checkId: string }) | UsedTool,
): [string, Uint8Array] {
  const body = toStored(objectShapes.tool_invocation, { ...use, run: story.run });
  const nowMs = Date.parse(use.startedAt) + use.durationMs;
  return [path, sealObject('tool_invocation', body, optionsOf(attempt, story, path, nowMs)).bytes];
}

function optionsOf(
  { identity: { contract, startedAtMs } }: Pick<Attempt, 'identity'>,
  { run }: RunStory,
  path: string,
  nowMs: number,
): SealOptions {
  return {
    nowMs,
    createdBy: schedulerOf(contract.effective),
    objectId: uuidV7From(startedAtMs, `${run}/${path}`),
  };
}

/** When the last check of a stage ended; `undefined` where none ran. */
function endOf({ checks }: StageRecord): number | undefined {
  const ends = checks.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function numbered(index: number): string {
  return String(index + 1).padStart(4, '0');
}

/** Every dependency as [before, after], by key. */
export function edgesOf({ tasks }: Pick<PlanDraft, 'tasks'>): readonly (readonly [string, string])[] {
  return tasks.flatMap(({ key, dependsOn }) => dependsOn.map((before) => [before, key] as const));
}
