import type { Test } from 'tap';
import { toRunData } from '../../../api/run/run-data.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import type { TaskOrder } from '../../../core/interfaces/worker.ts';
import { replayRun } from '../../../engine/decide/replay-run.ts';
import { createRecordedWorker, type RecordedAnswer } from '../../../plugins/recorded-worker/plugin.ts';
import { long } from '../../rooms/long.ts';
import { type Json, makeSample, merge } from '../sample.ts';

function add(path: string, ...lines: string[]): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

function change(path: string, from: string, to: string): string {
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
}

const required = (name: string, stage: string): Json => ({ name, stage, required: true });
const policy = (id: string, artifact: string): Json => ({
  id,
  kind: 'policy',
  command: id,
  required: true,
  artifactsProduced: [artifact],
});
const contract: Json = {
  intent: {
    changeType: 'feature',
    objectives: ['write src/one.py', 'write src/two.js'],
    inScope: ['src/', 'test/'],
  },
  acceptance: {
    verificationPlan: {
      securityChecks: [
        policy('sast', 'sast-report'),
        policy('sbom', 'sbom'),
        {
          id: 'sca',
          kind: 'command',
          command: 'echo "{}" > "$REPORTS_DIR/sca-report.json"',
          required: true,
          artifactsProduced: ['sca-report'],
        },
      ],
    },
  },
  artifacts: {
    required: [
      required('patchset', 'per-task'),
      required('test-log', 'per-task'),
      ...['sast-report', 'sca-report', 'sbom'].map((name) => required(name, 'security')),
    ],
  },
  constraints: { resources: { maxWallClockSeconds: 7200 } },
  execution: { retry: { maxRetries: 2, backoffSeconds: 0 }, replan: { triggers: [] } },
  objmodel: { decisionPolicy: { abandonOnSecurityGateFail: false } },
};

type Changeable = { wrote_outside?: Json; blame?: Record<string, Json>; files?: Record<string, Json>[] };

/** Runs the Tasks of a contract with recorded answers; `orders` holds what the worker was asked. */
async function work(t: Test, answers: readonly RecordedAnswer[], ...spec: Json[]) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const orders: TaskOrder[] = [];
  const recorded = createRecordedWorker(answers, async () => {});
  const worker = {
    ...recorded,
    work: (order: TaskOrder) => {
      orders.push(order);
      return recorded.work(order);
    },
  };
  const view = await sample.run({ worker }, spec.reduce(merge, contract));
  const ref = `refs/ai/runs/${view.runId}`;
  const read = (path: string): string => sample.git('cat-file', 'blob', `${ref}:${path}`);
  const list = sample.git('ls-tree', '-r', '--name-only', ref).split('\n');
  return {
    view,
    list,
    show: (path: string) => JSON.parse(read(path)) as Json,
    failure: (task: number, attempt: number, revision = 1) =>
      orders.find((one) => one.taskNumber === task && one.attempt === attempt && one.revision === revision)
        ?.previousFailure,
    orders: orders.map((one) => [one.taskNumber, one.revision, one.attempt] as const),
    /** Replays the record, with the JSON of one file changed. */
    replay(path?: string, change?: (value: Changeable) => void) {
      const files = new Map(list.map((one) => [one, Buffer.from(`${read(one)}\n`)]));
      if (path !== undefined) {
        const value = JSON.parse(read(path)) as Changeable;
        change?.(value);
        files.set(path, Buffer.from(`${canonicalize(value)}\n`));
      }
      return replayRun(files);
    },
    at: (path: string) => sample.git('show', `main:${path}`),
  };
}

const unsafe = ['import pickle', 'value = pickle.load(open("a", "rb"))'];

long('only the Tasks that wrote the refused files are retried', async (t) => {
  const { view, list, show, failure, orders, replay, at } = await work(
    t,
    [
      { task: 1, attempt: 1, patch: add('src/one.py', 'eval(input())') },
      { task: 1, attempt: 2, patch: add('src/one.py', ...unsafe) },
      { task: 1, attempt: 3, patch: add('src/one.py', 'value = 1') },
      { task: 2, attempt: 1, patch: add('src/two.js', 'export const two = 1;') },
      {
        task: 2,
        attempt: 2,
        patch: change('src/two.js', 'export const two = 1;', 'export const two = 2;'),
      },
    ],
    {
      acceptance: {
        verificationPlan: {
          integrationChecks: [
            {
              id: 'sum',
              kind: 'command',
              command:
                'mkdir -p out; touch out/log src/log; test "$(cat src/two.js)" = "export const two = 2;"',
              required: true,
            },
          ],
        },
      },
    },
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));

  t.test(
    'noDirectEval rejects the PatchSet of a Task that evaluates text before it is Proposed',
    async (t) => {
      const first = 'task-1/revision-1/attempt-1';
      const refused = { rule: 'no-direct-eval', path: 'src/one.py', line: 1 };
      t.match(show(`${first}/patchset.json`), { apply_status: 'Rejected', findings: [refused] });
      t.match(show(`${first}/decision.json`), {
        type: 'retry',
        reasons: ['patch refused by `no-direct-eval`'],
      });
      t.notOk(list.some((path) => path.startsWith(`${first}/evidence/`)));
      t.match(failure(1, 2), /no-direct-eval.*src\/one\.py:1/);
      t.match(show('task-1/revision-1/attempt-2/patchset.json'), { apply_status: 'Proposed' });
    },
  );

  t.test('the last Task retries a failure that names no file, from the merged state', (t) => {
    t.match(show('candidate-1/decision-input.json'), { task: { id: 'task-2', attempt: 1 } });
    t.notMatch(show('candidate-1/decision-input.json'), { blame: {} });
    t.match(show('candidate-1/decision.json'), { type: 'retry', next: 'retry', rationale: /task-2/ });
    t.equal(at('src/two.js'), 'export const two = 2;');
    t.end();
  });

  t.test('a finding in a merged file restarts the Task that wrote the file', (t) => {
    t.match(show('candidate-2/decision-input.json'), {
      task: { id: 'task-1', attempt: 2, maxRetries: 2 },
      blame: {
        merged: ['task-1/revision-1/attempt-2', 'task-2/revision-1/attempt-1', 'task-2/revision-1/attempt-2'],
        tasks: [
          { id: 'task-1', attempt: 2, count: 1, first: [{ rule: 'sast', path: 'src/one.py', line: 2 }] },
        ],
        unwritten: { count: 0 },
      },
    });
    t.match(show('candidate-2/decision.json'), { next: 'retry', rationale: /task-1` wrote `src\/one\.py:2/ });
    t.match(show('candidate-2/sent-back/0001.json'), {
      object_type: 'task_event',
      kind: 'retried',
      attempt: 2,
    });
    t.match(failure(1, 3), /sast.*src\/one\.py:2/);
    t.strictSame(
      orders.filter(([task]) => task === 2).map(([, , attempt]) => attempt),
      [1, 2],
    );
    t.equal(at('src/one.py'), 'value = 1');
    t.end();
  });

  t.test('the run data list which Tasks were retried, for which findings and where', (t) => {
    t.match(toRunData(view).retries, {
      count: 3,
      first: [
        { failed: 'candidate-1', tasks: ['task-2'], next: 'retry', places: [] },
        { failed: 'candidate-2', tasks: ['task-1'], places: [{ rule: 'sast', path: 'src/one.py', line: 2 }] },
        {
          failed: 'task-1/revision-1/attempt-1',
          tasks: ['task-1'],
          places: [{ rule: 'no-direct-eval', path: 'src/one.py', line: 1 }],
        },
      ],
    });
    t.end();
  });

  t.test('evidence lists what a check wrote outside inScope, whether it failed or passed', (t) => {
    const written = { count: 1, paths: [{ path: 'out/log', was: 'added' }] };
    t.strictSame(
      toRunData(view).stages.flatMap(({ checks }) => checks.flatMap((one) => one.wrote_outside ?? [])),
      [written],
    );
    for (const folder of ['candidate-1/', '']) {
      const path =
        list.find((one) => one.startsWith(`${folder}evidence/`) && one.endsWith('-sum.json')) ?? '';
      t.strictSame((show(path) as { wrote_outside: Json }).wrote_outside, written);
    }
    t.end();
  });

  t.test('replay finds the same Tasks to blame and reports evidence that was altered', (t) => {
    t.match(replay(), { equal: true, firstDifference: undefined });
    const input = 'candidate-2/decision-input.json';
    const differs = { equal: false, firstDifference: { file: input, field: '/blame' } };
    const sum = list.find((path) => /^evidence\/.*-sum\.json$/.test(path)) ?? '';
    t.match(
      replay(sum, (value) => delete value.wrote_outside),
      { equal: false, firstDifference: { file: sum, field: '/wrote_outside' } },
    );
    t.match(
      replay(input, (value) => delete value.blame),
      differs,
    );
    t.match(
      replay(input, (value) => Object.assign(value.blame ?? {}, { tasks: [] })),
      differs,
    );
    t.match(
      replay('task-1/revision-1/attempt-2/patchset.json', ({ files = [] }) =>
        Object.assign(files[0] ?? {}, { path: 'src/other.py' }),
      ),
      differs,
    );
    t.end();
  });
});

const serial: Json = {
  intent: { objectives: ['write src/one.py', 'read src/one.py and write src/two.js'] },
};

long('work that depends on a restarted Task is kept when it still fits', async (t) => {
  const { view, show, orders, replay, at } = await work(
    t,
    [
      { task: 1, attempt: 1, patch: add('src/one.py', ...unsafe) },
      { task: 1, attempt: 2, patch: add('src/one.py', 'value = 1') },
      { task: 2, attempt: 1, patch: add('src/two.js', 'export const two = 2;') },
    ],
    serial,
  );
  t.match(show('tasks/0002.json'), { depends_on: [/./] });
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.strictSame(orders, [
    [1, 1, 1],
    [2, 1, 1],
    [1, 1, 2],
  ]);
  t.equal(at('src/one.py'), 'value = 1');
  t.equal(at('src/two.js'), 'export const two = 2;');
  t.match(replay(), { equal: true });
});

long('with abandonOnSecurityGateFail false a replan revises the Task that caused the failure', async (t) => {
  const { view, list, show, orders, failure, replay } = await work(
    t,
    [
      { task: 1, attempt: 1, patch: add('src/one.py', ...unsafe) },
      { task: 1, attempt: 1, revision: 2, patch: add('src/one.py', 'value = 1') },
      { task: 2, attempt: 1, patch: add('src/two.js', 'export const two = 2;') },
    ],
    { execution: { retry: { maxRetries: 0 }, replan: { triggers: ['security-gate-fail'] } } },
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(show('candidate-1/decision.json'), { next: 'replan', type: 'checkpoint' });
  const names = list.filter((path) => /(?:run|decision|patchset|plan)\.json$|task_event/.test(path));
  const ids = names.map((path) => (show(path) as { object_id?: string }).object_id);
  t.equal(new Set(ids).size, names.length, 'each object has a name of its own');
  t.match(show('plan.json'), { revision: 2, reason: 'security-gate-fail', diff_summary: /at `task-1`/ });
  t.strictSame([...orders].sort(), [
    [1, 1, 1],
    [1, 2, 1],
    [2, 1, 1],
  ]);
  t.match(failure(1, 1, 2), /sast.*src\/one\.py:2/);
  t.match(replay(), { equal: true });
});
