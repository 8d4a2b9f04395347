import type { IntentRecord, RunRecord, ThreadRecord } from '../../../api/graph/thread-record.ts';
import { uuidV7From } from '../../../core/base/ids.ts';
import type { ObjectBody, ObjectType } from '../../../store/object-shapes.ts';
import { sealObject } from '../../../store/stored-object.ts';

const startedAtMs = 1_750_000_000_000;
const digest = 'a'.repeat(64);
const tree = '1'.repeat(40);

/** An id that is the same for the same name. */
export const idOf = (name: string): string => uuidV7From(startedAtMs, name);
export const threadId = idOf('thread');

/** A file of a record that holds one object. */
export function file<T extends ObjectType>(path: string, type: T, body: ObjectBody<T>, objectId: string) {
  const { bytes } = sealObject(type, body, {
    nowMs: startedAtMs,
    createdBy: { kind: 'agent', id: 'coder' },
    objectId,
  });
  return { path, bytes };
}

export const intentBody: ObjectBody<'intent'> = {
  intentspec_digest: digest,
  summary: 'Prices are exact',
  prompt: 'Every price is wrong.',
  change_type: 'bugfix',
  risk_level: 'low',
  objectives: ['right prices'],
};

export function planBody(revision: number, tasks: readonly string[]): ObjectBody<'plan'> {
  return {
    intent: threadId,
    revision,
    steps: [{ objective: 'right prices' }],
    tasks: [...tasks],
    edges: [],
    scope: { write: ['src/'], forbidden: [], whole_repository: false },
    stages: ['fast'],
  };
}

export function taskBody(number: number, more: Partial<ObjectBody<'task'>> = {}): ObjectBody<'task'> {
  return {
    intent: threadId,
    title: `part ${number}`,
    goal: 'bugfix',
    steps: [],
    constraints: [],
    acceptance_criteria: [],
    depends_on: [],
    number,
    ...more,
  };
}

export function runBody(
  task: string,
  plan: string,
  more: Partial<ObjectBody<'run'>> = {},
): ObjectBody<'run'> {
  return {
    intent: threadId,
    plan,
    task,
    thread_id: threadId,
    attempt: 1,
    base_ref: 'main',
    base_commit: null,
    base_tree: tree,
    policy_commit: null,
    target_ref: 'refs/heads/main',
    sandbox: 'none',
    scheduler_version: '1',
    started_at: '2025-06-15T15:06:40.000Z',
    ...more,
  };
}

export function patchsetBody(run: string): ObjectBody<'patchset'> {
  return {
    run,
    digest,
    base_commit: null,
    base_tree: tree,
    candidate_tree: tree,
    format: 'GitDiff',
    apply_status: 'Proposed',
    files: [{ path: 'src/a.js', change_type: 'modify', binary: false, lines_added: 1, lines_deleted: 1 }],
    findings: [],
  };
}

export function evidenceBody(run: string, patchset: string, id: string): ObjectBody<'evidence'> {
  return {
    run,
    patchset,
    kind: `fast:${id}`,
    stage: 'fast',
    status: 'passed',
    required: true,
    reports: [],
    findings: [],
  };
}

export function decisionBody(run: string, evidence: readonly string[]): ObjectBody<'decision'> {
  return {
    run,
    type: 'commit',
    rationale: 'all passed',
    reasons: [],
    input_digest: digest,
    decision_digest: digest,
    evidence: [...evidence],
  };
}

/** One decided run whose record holds `size` objects. */
export function madeRun(name: string, size = 10): RunRecord {
  const [plan, task, patchset] = ['plan', 'task', 'patchset'].map((what) => idOf(`${name}/${what}`));
  if (plan === undefined || task === undefined || patchset === undefined) throw new Error('three ids');
  const runId = idOf(name);
  const shown = Array.from({ length: size - 6 }, (_, index) => idOf(`${name}/evidence/${index}`));
  return {
    runId,
    state: 'decided',
    place: `refs/ai/runs/${runId}`,
    isWhole: true,
    files: [
      file('intent.json', 'intent', intentBody, threadId),
      file('plan.json', 'plan', planBody(1, [task]), plan),
      file('tasks/0001.json', 'task', taskBody(1, { plan }), task),
      file('run.json', 'run', runBody(task, plan), runId),
      file('patchset.json', 'patchset', patchsetBody(runId), patchset),
      ...shown.map((id, index) =>
        file(`evidence/${index}.json`, 'evidence', evidenceBody(runId, patchset, `check-${index}`), id),
      ),
      file('decision.json', 'decision', decisionBody(runId, shown), idOf(`${name}/decision`)),
    ],
  };
}

/** The intent of the thread as its ref has it. */
export function madeIntent(events: IntentRecord['events'] = []): IntentRecord {
  return {
    place: 'refs/ai/intents/prices',
    intent: file('intent.json', 'intent', intentBody, threadId),
    events,
  };
}

export function madeThread(more: Partial<ThreadRecord> = {}): ThreadRecord {
  return { threadId, intents: [madeIntent()], runs: [madeRun('one')], isTruncated: false, ...more };
}
