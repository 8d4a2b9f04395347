import { canonicalize } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { ReplanTrigger } from '../../core/interfaces/replan-trigger.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { WorkUsage } from '../../core/interfaces/worker.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { type CitationsRecord, citationsPath } from '../../store/record/summaries.ts';
import { type SealOptions, sealObject } from '../../store/stored-object.ts';
import type { Attempt } from '../state/open-run.ts';
import type { ContextSnapshot } from './context-snapshot.ts';
import type { DecisionRecord } from './decision-input.ts';
import {
  type EvaluatedRun,
  type EvaluationObjects,
  evaluationFiles,
  evaluationObjects,
} from './evaluation-objects.ts';
import { eventFiles, type UsedTool } from './event-objects.ts';
import { decisionBody, runBody } from './record-files.ts';

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

/**
 * Returns the stored objects of one attempt's Run by path: run, patchset, evidence, decision, usage, events. Each
 * attempt is one Run.
 */
export function attemptFiles(
  attempt: Attempt,
  judged: EvaluatedRun,
  facts: AttemptFacts,
): readonly [string, Uint8Array][] {
  const {
    identity: { contract, runId, threadId },
    name,
    patch,
  } = attempt;
  const { nowMs, startedAtMs, ids, number, usage } = facts;
  const spec = contract.effective;
  const run = attemptIdOf(attempt, name);
  const options = (what: string): SealOptions => ({
    nowMs,
    createdBy: schedulerOf(spec),
    objectId: what === '' ? run : uuidV7From(startedAtMs, `${run}/${what}`),
  });
  const { decision } = judged;
  const accepted = decision.next === 'merge';
  const judgement = evaluationObjects(attempt, judged.findings, judged.stages, {
    run,
    content: `${name}/`,
    nowMs,
    applyStatus: 'Proposed',
  });
  const seconds = Math.max(0, nowMs - startedAtMs) / 1000;
  const { target } = spec.metadata;
  const files: [string, Uint8Array][] = [
    [
      'run.json',
      sealObject(
        'run',
        {
          ...runBody(attempt, judged, { intent: threadId, ...ids }),
          attempt: number,
          attempt_of: runId,
          finished_at: toRfc3339(nowMs),
          outcome: decision.next ?? decision.type,
          ...(facts.snapshot === undefined ? {} : { snapshot: facts.snapshot.objectId }),
          metrics: { ...facts.metrics, wall_clock_seconds: seconds },
        },
        { ...options(''), tags: { ...target.labels } },
      ).bytes,
    ],
    ...evaluationFiles(judgement),
    ['decision-input.json', Buffer.from(`${canonicalize(judged.input)}\n`)],
    ...(facts.citations === undefined
      ? []
      : [[citationsPath, Buffer.from(`${canonicalize(facts.citations)}\n`)] as [string, Uint8Array]]),
    ['decision-record.json', Buffer.from(`${canonicalize(decision)}\n`)],
    [
      'decision.json',
      attemptDecision(
        attempt,
        judged,
        judgement,
        { run, task: ids.task, attempt: number },
        options('decision'),
      ),
    ],
    [
      'usage.json',
      sealObject(
        'run_usage',
        {
          run,
          cost_units: usage.costUnits,
          ...(usage.tokensUsed === undefined ? {} : { tokens_used: usage.tokensUsed }),
          wall_clock_seconds: seconds,
          patchsets_generated: patch.files.length === 0 ? 0 : 1,
          attempt: number,
        },
        options('usage'),
      ).bytes,
    ],
    [
      'event.json',
      sealObject(
        'task_event',
        {
          task: ids.task,
          run,
          kind: accepted ? 'accepted' : decision.type === 'abandon' ? 'abandoned' : 'attempt-failed',
          attempt: number,
          reason: decision.rationale,
        },
        options('event'),
      ).bytes,
    ],
    ...eventFiles(attempt, {
      run,
      startedAtMs,
      decidedAtMs: nowMs,
      stages: judged.stages,
      outcome: decision,
      tools: facts.tools,
      steps: {
        plan: ids.plan,
        indexes: facts.steps,
        status: accepted ? 'completed' : decision.type === 'abandon' ? 'failed' : 'in_progress',
      },
    }),
  ];
  return files.map(([path, bytes]) => [`${name}/${path}`, bytes]);
}

/** The decision about one attempt at a Task, as the object that is stored. */
export function attemptDecision(
  attempt: Attempt,
  judged: EvaluatedRun,
  judgement: EvaluationObjects,
  about: { readonly run: string; readonly task: string; readonly attempt: number },
  options: SealOptions,
): Uint8Array {
  const { type, rationale, next } = judged.decision;
  const body = decisionBody(
    attempt,
    judged,
    { type, rationale, nowMs: options.nowMs },
    judgement.evidence.map(({ object }) => object.object_id),
    judgement.patchset.object.object_id,
  );
  return sealObject('decision', { ...body, ...about, next }, options).bytes;
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
