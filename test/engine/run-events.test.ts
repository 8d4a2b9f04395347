import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, type Sample } from './sample.ts';

interface Told {
  readonly object_id: string;
  readonly object_type: string;
  readonly [field: string]: unknown;
}

function readEvents(sample: Sample, runId: string): readonly (readonly [string, Told])[] {
  const ref = `refs/ai/runs/${runId}`;
  const paths = sample.git('ls-tree', '-r', '--name-only', ref).split('\n');
  return paths
    .filter((path) => /(?:^|\/)(?:events|steps|tools)\//.test(path))
    .map((path) => [path, JSON.parse(sample.git('cat-file', 'blob', `${ref}:${path}`)) as Told]);
}

async function judge(t: Test, fixture: string, more: Json = {}) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const patch = readFileSync(join(fixtures, fixture, 'change.diff'));
  const view = await sample.run({ source: { kind: 'patch', bytes: patch } }, more);
  return { sample, view, events: readEvents(sample, view.runId) };
}

const goodPatch = 'a-fix-with-a-new-test-is-committed';

long('a run records its start, stages, decision, steps, gates and every tool call', async (t) => {
  const { view, events, sample } = await judge(t, goodPatch);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  const runEvents = events.filter(([, { object_type: type }]) => type === 'run_event');
  t.strictSame(
    runEvents.map(([path, { kind }]) => [path, kind]),
    [
      ['events/0001-started.json', 'started'],
      ['events/0002-stage-fast.json', 'stage-settled'],
      ['events/0003-stage-integration.json', 'stage-settled'],
      ['events/0004-stage-security.json', 'stage-settled'],
      ['events/0005-stage-release.json', 'stage-settled'],
      ['events/0006-decided.json', 'decided'],
    ],
  );
  const times = runEvents.map(([, { created_at: at }]) => String(at));
  t.strictSame(times, [...times].sort(), 'in the order things happened');
  t.equal(new Set(events.map(([, { object_id: id }]) => id)).size, events.length, 'no two are one');

  const checks = view.stages.flatMap((stage) => stage.checks);
  const tools = events.filter(([, { object_type: type }]) => type === 'tool_invocation');
  t.strictSame(
    tools.map(([, { check_id: id, outcome, exit_code: exit }]) => [id, outcome, exit]),
    checks.filter(({ kind }) => kind !== 'policy').map(({ id, exitCode }) => [id, 'done', exitCode]),
  );
  const gates = events.filter(([, { object_type: type }]) => type === 'task_event');
  t.ok(gates.length > 0);
  t.ok(gates.every(([, { kind }]) => kind === 'accepted'));
  const steps = events.filter(([, { object_type: type }]) => type === 'plan_step_event');
  t.strictSame(
    steps.map(([, { step, status }]) => [step, status]),
    [
      [0, 'completed'],
      [0, 'in_progress'],
    ],
  );

  const intent = sample.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents');
  const history = sample
    .git('ls-tree', '-r', '--name-only', intent, 'events/')
    .split('\n')
    .map((path) => JSON.parse(sample.git('cat-file', 'blob', `${intent}:${path}`)) as Told);
  t.strictSame(
    history.map(({ kind, run }) => [kind, run]),
    [
      ['run-started', view.runId],
      ['run-decided', view.runId],
      ['closed', view.runId],
    ],
  );
});

t.test('a command that the spec does not allow is denied and its gate is abandoned', async (t) => {
  const { events } = await judge(t, goodPatch, {
    security: {
      toolAcl: {
        allow: [
          { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['true'] } },
        ],
      },
    },
  });
  const [denied] = events.filter(([, { object_type: type }]) => type === 'tool_invocation');
  t.match(denied?.[1], { outcome: 'denied', exit_code: undefined });
  t.type(denied?.[1].refusal, 'string');
  t.match(events.find(([path]) => path.startsWith('events/gate-'))?.[1], { kind: 'abandoned' });
});

long('one gate task for all stages is recorded once', async (t) => {
  const { events } = await judge(t, goodPatch, {
    objmodel: { planGeneration: { gateTaskPerStage: false } },
  });
  t.equal(events.filter(([path]) => path.startsWith('events/gate-')).length, 1);
});

long('attempts of a worker record their own steps and tool calls', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const patch = readFileSync(join(fixtures, goodPatch, 'change.diff'), 'utf8');
  const worker = createRecordedWorker([{ task: 1, attempt: 1, patch, costUnits: 1 }], async () => {});
  const view = await sample.run({ worker });
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  const events = readEvents(sample, view.runId);
  const ofAttempt = events.filter(([path]) => path.startsWith('task-1/revision-1/attempt-1/'));
  const types = new Set(ofAttempt.map(([, { object_type: type }]) => type));
  t.strictSame([...types].sort(), ['plan_step_event', 'run_event', 'tool_invocation']);
  t.equal(events.filter(([path]) => path.startsWith('steps/')).length, 0);
});
