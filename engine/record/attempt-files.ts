/* The stored objects of one attempt. */
import type { UsedTool } from '../../agent/tool-calls/tool-entry.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { PlanDraft, ReplanTrigger } from '../../core/interfaces/plan.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { WorkUsage } from '../../core/interfaces/worker.ts';
import { schedulerOf } from '../../spec/facts.ts';
import type { ObjectBody, ObjectType } from '../../store/object-shapes.ts';
import { toJson } from '../../store/record/record-paths.ts';
import { type CitationsRecord, citationsPath } from '../../store/record/summaries.ts';
import { sealObject } from '../../store/stored-object.ts';
import type { ContextSnapshot } from '../state/context-snapshot.ts';
import type { Attempt } from '../state/open-run.ts';
import type { DecidedTask, DecisionRecord } from './decision-input.ts';
import { type EvaluatedRun, evaluationFiles, evaluationObjects } from './evaluation-objects.ts';
import { eventFiles, planIdOf, type RunStory, taskIdOf } from './work-objects.ts';
import { decisionBody, runBody } from './write-record.ts';

/** Data of an attempt's stored objects that is not part of its verdict. */
interface AttemptFacts {
  readonly ids: { readonly plan: string; readonly task: string };
  /** From 1. */
  readonly number: number;
  readonly usage: WorkUsage;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly snapshot?: ContextSnapshot;
  /** The citations of its decisions, if the spec requires them. */
  readonly citations?: CitationsRecord;
  /** Indexes into the plan's steps that the Task is about. */
  readonly steps: readonly number[];
  /** What its worker used. */
  readonly tools: readonly UsedTool[];
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** Object id of the Run of an attempt. */
export function attemptIdOf(
  { identity: { runId, startedAtMs } }: Pick<Attempt, 'identity'>,
  name: string,
): string {
  return uuidV7From(startedAtMs, `${runId}/${name}`);
}

/** What the Run of an attempt, and that of a candidate that goes back, have in common. */
interface RunPart {
  /** Folder of its files. */
  readonly name: string;
  readonly ids: { readonly plan: string; readonly task: string };
  readonly number: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly snapshot?: ContextSnapshot | undefined;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly story?: Pick<RunStory, 'tools' | 'steps'>;
}

/** Seals an object of the Run at a path; its id comes from `what`. */
type SealPart = <T extends ObjectType>(
  type: T,
  body: ObjectBody<T>,
  path: string,
  what?: string,
) => [string, Uint8Array];

/** Files of one Run: run, patchset, evidence, decision and events, and `more` of its own. */
function runFiles(
  attempt: Attempt,
  judged: EvaluatedRun,
  { name, ids, number, metrics, snapshot, startedAtMs, nowMs, story }: RunPart,
  more: (run: string, seal: SealPart) => readonly (readonly [string, Uint8Array])[],
): readonly [string, Uint8Array][] {
  const { contract, runId, threadId } = attempt.identity;
  const { decision, findings, stages, input } = judged;
  const spec = contract.effective;
  const run = attemptIdOf(attempt, name);
  const scheduler = { nowMs, createdBy: schedulerOf(spec) };
  const seal: SealPart = (type, body, path, what = path) => [
    path,
    sealObject(type, body, { ...scheduler, objectId: uuidV7From(startedAtMs, `${run}/${what}`) }).bytes,
  ];
  const objects = evaluationObjects(attempt, findings, stages, {
    run,
    content: `${attempt.name}/`,
    nowMs,
    applyStatus: 'Proposed',
  });
  const { type, rationale, next } = decision;
  const evidence = objects.evidence.map(({ object }) => object.object_id);
  const body = decisionBody(
    attempt,
    judged,
    { type, rationale, nowMs },
    evidence,
    objects.patchset.object.object_id,
  );
  const files: (readonly [string, Uint8Array])[] = [
    [
      'run.json',
      sealObject(
        'run',
        {
          ...runBody(attempt, judged, { intent: threadId, ...ids }),
          attempt: number,
          attempt_of: runId,
          finished_at: toRfc3339(nowMs),
          outcome: next ?? type,
          ...(snapshot === undefined ? {} : { snapshot: snapshot.objectId }),
          metrics,
        },
        { ...scheduler, objectId: run, tags: { ...spec.metadata.target.labels } },
      ).bytes,
    ],
    ...evaluationFiles(objects),
    ['decision-input.json', toJson(input)],
    ['decision-record.json', toJson(decision)],
    seal('decision', { ...body, run, task: ids.task, attempt: number, next }, 'decision.json', 'decision'),
    ...more(run, seal),
    ...eventFiles(attempt, { run, startedAtMs, decidedAtMs: nowMs, stages, outcome: decision, ...story }),
  ];
  return files.map(([path, bytes]) => [`${name}/${path}`, bytes]);
}

/** Returns the files of one attempt's Run by path. Each attempt is one Run. */
export function attemptFiles(
  attempt: Attempt,
  judged: EvaluatedRun,
  facts: AttemptFacts,
): readonly [string, Uint8Array][] {
  const { nowMs, startedAtMs, ids, number, usage, tools, citations, snapshot } = facts;
  const { decision } = judged;
  const isOver = decision.type === 'abandon';
  const isAccepted = decision.next === 'merge';
  const seconds = Math.max(0, nowMs - startedAtMs) / 1000;
  const status = isAccepted ? 'completed' : isOver ? 'failed' : 'in_progress';
  const part: RunPart = {
    name: attempt.name,
    ids,
    number,
    metrics: { ...facts.metrics, wall_clock_seconds: seconds },
    snapshot,
    startedAtMs,
    nowMs,
    story: { tools, steps: { plan: ids.plan, indexes: facts.steps, status } },
  };
  return runFiles(attempt, judged, part, (run, seal) => [
    ...(citations === undefined ? [] : [[citationsPath, toJson(citations)] as const]),
    seal(
      'run_usage',
      {
        run,
        cost_units: usage.costUnits,
        ...(usage.tokensUsed === undefined ? {} : { tokens_used: usage.tokensUsed }),
        wall_clock_seconds: seconds,
        patchsets_generated: attempt.patch.files.length === 0 ? 0 : 1,
        attempt: number,
      },
      'usage.json',
      'usage',
    ),
    seal(
      'task_event',
      {
        task: ids.task,
        run,
        kind: isAccepted ? 'accepted' : isOver ? 'abandoned' : 'attempt-failed',
        attempt: number,
        reason: decision.rationale,
      },
      'event.json',
      'event',
    ),
  ]);
}

/**
 * Records a merged candidate that will be retried, below `name`: the candidate, the findings, which Tasks were chosen
 * and why, and one event per Task that is sent back.
 */
export async function keepReturned(
  attempt: Attempt,
  judged: EvaluatedRun,
  name: string,
  { revision, tasks }: PlanDraft,
): Promise<void> {
  const { identity, services } = attempt;
  const { input, decision, attempts: number, metrics } = judged;
  const blamed = input.blame?.tasks ?? [];
  const sentBack: readonly DecidedTask[] = blamed.length > 0 ? blamed : input.task ? [input.task] : [];
  const taskOf = ({ id }: DecidedTask): string =>
    taskIdOf(identity, revision, tasks.find(({ key }) => key === id)?.number ?? 0);
  const [first] = sentBack;
  const task = first ? taskOf(first) : taskIdOf(identity, revision, 1);
  const ids = { plan: planIdOf(identity, revision), task };
  await services.steps.once('handed-back', async () => {
    const { startedAtMs } = identity;
    const part = { name, ids, number, metrics, startedAtMs, nowMs: services.settings.clock.now() };
    const files = runFiles(attempt, judged, part, (run, seal) =>
      sentBack.map((one, index) => {
        const { attempt: at } = one;
        const event = { task: taskOf(one), run, kind: 'retried', attempt: at } as const;
        const path = `sent-back/${String(index + 1).padStart(4, '0')}.json`;
        return seal('task_event', { ...event, reason: decision.rationale }, path);
      }),
    );
    await services.record.put(files);
  });
}

/** What became of one attempt at one Task, small enough to be read back by the thousand. */
export interface SettledAttempt {
  /** Stable name inside the run; its steps, directories and files bear it. */
  readonly name: string;
  readonly revision: number;
  readonly key: string;
  readonly number: number;
  /** From 1, within the revision. */
  readonly attempt: number;
  readonly baseTree: string;
  /** The tree that the attempt produced; the base tree if it changed no file. */
  readonly tree: string;
  readonly decision: DecisionRecord;
  /** For the next attempt; untrusted text. */
  readonly failure: string;
  /** What the failed checks printed, for the next attempt; untrusted text. */
  readonly output?: string;
  readonly failedTests: readonly string[];
  /** What fired and is enabled. */
  readonly trigger?: ReplanTrigger;
  /** Paths that a `scope` finding refused. */
  readonly refusedPaths?: readonly string[];
  readonly usage: WorkUsage;
  readonly metrics?: Readonly<Record<string, number>>;
  /** What its worker looked up on. */
  readonly network?: CheckNetwork;
  /** Language servers that answered it. */
  readonly servers?: readonly DigestedThing[];
  readonly startedAtMs: number;
}
