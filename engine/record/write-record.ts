/* Builds the files of a run's record. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { DecisionType } from '../../core/interfaces/run-view.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { schedulerOf } from '../../spec/facts.ts';
import type { Journal } from '../../store/journal.ts';
import type { ObjectBody } from '../../store/object-shapes.ts';
import { toJson } from '../../store/record/record-paths.ts';
import {
  type CitationsRecord,
  citationsPath,
  maxDecisions,
  maxPlacesTold,
  maxReasonTold,
  maxRetriesTold,
  parseCitations,
  parseParts,
  partsPath,
  type RetriesRecord,
  retriesPath,
  toolUsesIn,
  toolUsesPath,
} from '../../store/record/summaries.ts';
import { parseObject, type SealOptions, sealObject } from '../../store/stored-object.ts';
import { sealIntent } from '../intent/append-intent-events.ts';
import type { Attempt } from '../state/open-run.ts';
import type { BoxMemory } from '../state/record-collector.ts';
import { finalReport } from './build-gate-report.ts';
import type { DecisionInput, DecisionRecord } from './decision-input.ts';
import { type EvaluatedRun, evaluationFiles, evaluationObjects } from './evaluation-objects.ts';
import {
  eventFiles,
  type GateTask,
  gateEventFiles,
  planFolder,
  planIdOf,
  type RunStory,
  type StepStory,
  taskIdOf,
} from './work-objects.ts';

/** What the run came to, for its Decision object. */
export interface RunOutcome {
  readonly type: DecisionType;
  readonly rationale: string;
  readonly commit?: string;
  /** Why the change is made without its provenance, where it is. */
  readonly unproven?: string;
  /** Read once, so that any process writes the same bytes for the same outcome. */
  readonly nowMs: number;
}

/** Path → bytes of a run's tree, in a stable order. */
export type RecordFiles = ReadonlyMap<string, Uint8Array>;

/**
 * All files kept for a run except artifact content and seals: how it was made, the checked change, and the decision.
 */
export async function recordFiles(
  attempt: Attempt,
  judged: EvaluatedRun,
  outcome: RunOutcome,
): Promise<RecordFiles> {
  const { identity } = attempt;
  const { contract, runId, threadId } = identity;
  const { nowMs } = outcome;
  const spec = contract.effective;
  const scheduler: SealOptions = {
    nowMs,
    createdBy: schedulerOf(spec),
  };
  const tags = { ...spec.metadata.target.labels };
  const idOf = (what: string): string => uuidV7From(nowMs, `${runId}/${what}`);
  const { revision } = judged;
  const ids = { plan: planIdOf(identity, revision), task: taskIdOf(identity, revision, 1) };

  const run = sealObject(
    'run',
    {
      ...runBody(attempt, judged, { intent: threadId, plan: ids.plan, task: ids.task }),
      attempt: judged.attempts,
      metrics: judged.metrics,
    },
    { ...scheduler, objectId: runId, tags },
  );
  const judgement = evaluationObjects(attempt, judged.findings, judged.stages, {
    run: runId,
    content: '',
    nowMs,
    applyStatus: outcome.type === 'commit' ? 'Applied' : 'Proposed',
  });
  const evidence = judgement.evidence.map(({ object }) => object.object_id);
  const decision = sealObject(
    'decision',
    decisionBody(attempt, judged, outcome, evidence, judgement.patchset.object.object_id),
    { ...scheduler, objectId: idOf(`decision/${outcome.type}`) },
  );

  const made = await madeOnTheWay(attempt, revision, outcome);
  const retries = retriesIn(made);
  const citations = citationsIn(made);
  const toolUses = toolUsesIn(made);
  const story: RunStory = {
    run: runId,
    startedAtMs: attempt.identity.startedAtMs,
    decidedAtMs: nowMs,
    stages: judged.stages,
    outcome: { type: outcome.type, next: judged.decision.next },
    // If a worker did the Tasks, their Runs hold the step events.
    ...(attempt.identity.isWorked ? {} : { steps: stepStory(attempt, ids.plan, outcome) }),
  };

  return new Map<string, Uint8Array>([
    ['spec.json', contract.bytes],
    ['effective.json', toJson(spec)],
    ['intent.json', sealIntent(contract, { threadId, nowMs }).bytes],
    ['run.json', run.bytes],
    ...evaluationFiles(judgement),
    ['gate-report.json', toJson(finalReport(attempt, judged.findings, judged.stages))],
    ['decision-input.json', toJson(judged.input)],
    ['decision-record.json', toJson(judged.decision)],
    ['decision.json', decision.bytes],
    ...made,
    ...(citations === undefined ? [] : [[citationsPath, toJson(citations)] as const]),
    ...(retries === undefined ? [] : [[retriesPath, toJson(retries)] as const]),
    ...(toolUses === undefined ? [] : [[toolUsesPath, toJson(toolUses)] as const]),
    ...eventFiles(attempt, story),
    ...gateEventFiles(attempt, story, gatesIn(made, spec)),
  ]);
}

/**
 * Plans, Tasks and attempts: the last plan is at the top level, earlier ones stay under `plans/`. The parts by Task
 * are kept only for a change that is committed or waits for approval.
 */
async function madeOnTheWay(
  { services: { record }, patch }: Pick<Attempt, 'services' | 'patch'>,
  revision: number,
  { type }: Pick<RunOutcome, 'type'>,
): Promise<readonly (readonly [string, Uint8Array])[]> {
  const current = `${planFolder(revision)}/`;
  const isOfThis = (bytes: Uint8Array): boolean =>
    (type === 'commit' || type === 'checkpoint') && parseParts(bytes).candidate_tree === patch.candidateTree;
  const made: [string, Uint8Array][] = [];
  for (const path of await record.list()) {
    const kept = path.startsWith(current) ? path.slice(current.length) : path;
    const bytes = await record.read(path);
    if (path !== partsPath || isOfThis(bytes)) made.push([kept, bytes]);
  }
  return made;
}

function stepStory(
  { identity: { contract } }: Pick<Attempt, 'identity'>,
  plan: string,
  { type }: RunOutcome,
): StepStory {
  return {
    plan,
    indexes: contract.effective.intent.objectives.map((_, index) => index),
    status: type === 'commit' ? 'completed' : type === 'checkpoint' ? 'in_progress' : 'failed',
  };
}

/** The gates among the Tasks of the plan that held at the end. */
function gatesIn(
  made: readonly (readonly [string, Uint8Array])[],
  { acceptance: { verificationPlan } }: EffectiveIntentSpec,
): readonly GateTask[] {
  // One gate for all of them names none.
  const all = stageNames.filter((stage) => verificationPlan[`${stage}Checks`].length > 0);
  return made.flatMap(([path, bytes]) => {
    if (!path.startsWith('tasks/')) return [];
    const { kind, object_id: task, gate_stage: stage } = parseObject('task', bytes);
    return kind === 'gate' ? [{ task, stages: stage === undefined ? all : [stage] }] : [];
  });
}

/** The Decision object of an outcome; the pure decision that it rests on is `decision-record.json`. */
export function decisionBody(
  attempt: Attempt,
  judged: EvaluatedRun,
  outcome: RunOutcome,
  evidence: readonly string[],
  patchset?: string,
): ObjectBody<'decision'> {
  const { environment, patch } = attempt;
  return {
    run: attempt.identity.runId,
    type: outcome.type,
    rationale: outcome.rationale,
    reasons: judged.decision.reasons,
    input_digest: judged.decision.inputDigest,
    decision_digest: canonicalDigest(judged.decision),
    evidence,
    ...(patchset === undefined ? {} : { patchset }),
    ...(outcome.commit === undefined ? {} : { commit_sha: outcome.commit, tree: patch.candidateTree }),
    target_ref: environment.target.ref,
    ...(outcome.unproven === undefined ? {} : { unproven: outcome.unproven }),
  };
}

const file = `/${citationsPath}`;

/** Citations of the accepted attempts, in name order; `undefined` if none was required. */
function citationsIn(made: readonly (readonly [string, Uint8Array])[]): CitationsRecord | undefined {
  const files = new Map(made);
  let needed = 0;
  const decisions = made.flatMap(([path, bytes]): CitationsRecord['first'] => {
    if (!path.endsWith(file)) return [];
    const attempt = path.slice(0, -file.length);
    const decided = files.get(`${attempt}/decision-record.json`);
    if (decided === undefined) return [];
    const { next } = JSON.parse(Buffer.from(decided).toString('utf8')) as DecisionRecord;
    const record = parseCitations(bytes);
    needed = record.needed;
    return next === 'merge' ? record.first.map((one) => ({ ...one, attempt })) : [];
  });
  if (needed === 0 && decisions.length === 0) return undefined;
  return {
    schema: 'urn:writ:citations:v1',
    needed,
    steps: 0,
    count: decisions.length,
    first: decisions.slice(0, maxDecisions),
  };
}

const decisionFile = '/decision-record.json';

/** Retries listed in a record's parts, in name order; `undefined` if there was none. */
export function retriesIn(made: readonly (readonly [string, Uint8Array])[]): RetriesRecord | undefined {
  const files = new Map(made);
  const found = made.flatMap(([path, bytes]): readonly RetriesRecord['first'][number][] => {
    if (!path.endsWith(decisionFile)) return [];
    const failed = path.slice(0, -decisionFile.length);
    const { next, rationale } = parse<DecisionRecord>(bytes);
    const inputBytes = files.get(`${failed}/decision-input.json`);
    if ((next !== 'retry' && next !== 'replan') || inputBytes === undefined) return [];
    const input = parse<DecisionInput>(inputBytes);
    const blamed = input.blame?.tasks ?? [];
    const tasks = blamed.length > 0 ? blamed : input.task ? [input.task] : [];
    return [
      {
        failed,
        tasks: tasks.slice(0, maxRetriesTold).map(({ id }) => id),
        next,
        reason: rationale.slice(0, maxReasonTold).toWellFormed(),
        places: placesOf(input),
      },
    ];
  });
  if (found.length === 0) return undefined;
  const byName = found
    .map((one) => [one.failed.replace(/\d+/g, (digits) => digits.padStart(9, '0')), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  return { schema: 'urn:writ:retries:v1', count: found.length, first: byName.slice(0, maxRetriesTold) };
}

function placesOf({ blame, patchFindings, stages }: DecisionInput): RetriesRecord['first'][number]['places'] {
  const all = blame
    ? [...blame.tasks, blame.unwritten].flatMap(({ first }) => first)
    : [...patchFindings, ...stages.flatMap(({ findings }) => findings)];
  return all
    .flatMap(({ rule, severity, path, line }) =>
      severity === 'error' && path !== undefined
        ? [{ rule, path, ...(line === undefined ? {} : { line }) }]
        : [],
    )
    .slice(0, maxPlacesTold);
}

/** The parts were written by this very run. */
function parse<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
}

/**
 * What the Run of an attempt and the Run of the whole have in common: what was built on, where, and with what (document
 * 1, Object-model binding).
 */
export function runBody(
  {
    identity: { contract, threadId, startedAtMs, sandboxName },
    services: { settings },
    patch,
    environment,
  }: Pick<Attempt, 'identity' | 'services' | 'patch' | 'environment'>,
  judged: EvaluatedRun,
  ids: { readonly intent: string; readonly plan: string; readonly task: string },
): Omit<ObjectBody<'run'>, 'attempt' | 'metrics'> {
  const { target } = contract.effective.metadata;
  return {
    ...ids,
    thread_id: threadId,
    base_ref: target.baseRef,
    base_commit: patch.baseCommit ?? null,
    base_tree: patch.baseTree,
    policy_commit: environment.policy.commit ?? null,
    ...(environment.policy.ref === undefined ? {} : { policy_ref: environment.policy.ref }),
    ...(environment.foreign === undefined ? {} : { default_ref: environment.foreign.defaultRef }),
    target_ref: environment.target.ref,
    sandbox: sandboxName,
    scheduler_version: settings.schedulerVersion,
    started_at: toRfc3339(startedAtMs),
    ...(target.workspaceId === undefined ? {} : { workspace_id: target.workspaceId }),
    ...(Object.keys(environment.platform).length === 0 ? {} : { environment: environment.platform }),
    resolved_dependencies: judged.dependencies.map((thing) => ({ ...thing })),
  };
}

const noteType = 'recorded';

interface Note {
  readonly files: readonly (readonly [path: string, sha256: string])[];
}

/** Remembers digests of the recorded files in the run's journal, because other processes can write to the files. */
export function recordMemory(journal: Pick<Journal, 'records' | 'append'>): BoxMemory {
  const digests = new Map<string, string>();
  for (const { type, data } of journal.records)
    if (type === noteType) for (const [path, digest] of (data as Note).files) digests.set(path, digest);
  return {
    digests,
    async note(files) {
      await journal.append(noteType, { files });
    },
  };
}
