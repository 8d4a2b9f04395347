import t, { type Test } from 'tap';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { createRecordedWorker, type RecordedAnswer } from '../../plugins/recorded-worker/plugin.ts';
import { long } from '../rooms/long.ts';
import { lookOn } from '../waiting/look-on.ts';
import { quickClock } from '../waiting/quick-clock.ts';
import { until } from '../waiting/until.ts';
import { type Json, makeSample, merge, type Sample } from './sample.ts';

function add(path: string, ...lines: string[]): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

const passing = (name: string): string =>
  add(`test/${name}.test.js`, `import test from 'node:test';`, `test('${name}', () => {});`);
const failing = (name: string): string =>
  add(
    `test/${name}.test.js`,
    `import test from 'node:test';`,
    `test('${name}', () => { throw new Error('not yet'); });`,
  );

const contract: Json = {
  intent: {
    changeType: 'feature',
    objectives: ['write test/one.test.js', 'write test/two.test.js'],
    inScope: ['src/', 'test/'],
  },
  constraints: { resources: { maxWallClockSeconds: 7200 } },
  execution: { retry: { maxRetries: 1, backoffSeconds: 7 }, replan: { triggers: [] } },
};

interface Worked {
  readonly view: RunView;
  readonly sample: Sample;
  readonly waits: number[];
  show(path: string): Json;
  list(): readonly string[];
}

async function work(t: Test, answers: readonly RecordedAnswer[], spec: Json[] = []): Promise<Worked> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const waits: number[] = [];
  const clock = quickClock(waits);
  const worker = createRecordedWorker(answers, async () => {});
  const view = await sample.run({ worker, clock }, spec.reduce(merge, contract));
  const ref = `refs/ai/runs/${view.runId}`;
  return {
    view,
    sample,
    waits,
    show: (path) => JSON.parse(sample.git('cat-file', 'blob', `${ref}:${path}`)) as Json,
    list: () => sample.git('ls-tree', '-r', '--name-only', ref).split('\n'),
  };
}

const twoTasks: readonly RecordedAnswer[] = [
  { task: 1, attempt: 1, patch: passing('one'), costUnits: 3 },
  { task: 2, attempt: 1, patch: passing('two'), costUnits: 4 },
];

t.test('two objectives become two Tasks whose work is merged and sealed as one commit', async (t) => {
  const { view, sample, list, show } = await work(t, twoTasks);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.equal(sample.git('rev-list', '--count', 'main'), '2');
  t.match(sample.git('show', '--stat', '--format=', 'main'), /one\.test\.js[\s\S]*two\.test\.js/);
  const files = list();
  for (const path of [
    'plan.json',
    'tasks/0001.json',
    'tasks/0002.json',
    'task-1/revision-1/attempt-1/run.json',
    'task-2/revision-1/attempt-1/patchset.json',
    'task-2/revision-1/attempt-1/usage.json',
  ])
    t.ok(files.includes(path), path);
  const { tasks, edges } = show('plan.json') as { tasks: string[]; edges: string[][] };
  t.strictSame(
    edges.map((edge) => edge.map((id) => tasks.indexOf(id))),
    [
      [0, 2],
      [1, 2],
    ],
    'what is verified comes after both',
  );
  t.match(show('tasks/0002.json'), {
    steps: ['write test/two.test.js'],
    predicted_writes: ['test/two.test.js'],
  });
  t.match(show('run.json'), { metrics: { cost_usd: 0.007, patchsets_generated: 2 } });
});

long('no more Tasks run at once than maxParallelTasks allows', async (t) => {
  const most = async (maxParallelTasks: number): Promise<number> => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    let [running, seen] = [0, 0];
    const meet = async (): Promise<void> => {
      running += 1;
      seen = Math.max(seen, running);
      if (maxParallelTasks > 1) await until(() => seen > 1, 'a second Task at once');
      else await lookOn(300);
      running -= 1;
    };
    const worker = createRecordedWorker(
      twoTasks.map((answer) => ({ ...answer, delayMs: 1 })),
      meet,
    );
    const view = await sample.run(
      { worker },
      merge(contract, { execution: { concurrency: { maxParallelTasks } } }),
    );
    t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
    return seen;
  };
  t.equal(await most(1), 1);
  t.equal(await most(2), 2);
});

long('a failed attempt is retried after the backoff that the spec sets', async (t) => {
  const { view, waits, show, sample } = await work(t, [
    { task: 1, attempt: 1, patch: failing('one') },
    { task: 1, attempt: 2, patch: passing('one') },
    twoTasks[1] as RecordedAnswer,
  ]);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.ok(
    waits.some((ms) => ms > 6000 && ms <= 7000),
    `${waits} ${sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:task-2/revision-1/attempt-1/decision.json`)}`,
  );
  t.match(show('task-1/revision-1/attempt-1/decision.json'), { type: 'retry', next: 'retry', attempt: 1 });
  t.match(show('task-1/revision-1/attempt-2/decision.json'), { type: 'checkpoint', next: 'merge' });
});

long('exhausted retries end in abandon and leave the branch alone', async (t) => {
  const { view, sample } = await work(t, [
    { task: 1, attempt: 1, patch: failing('one') },
    { task: 1, attempt: 2, nothing: 'no idea' },
    twoTasks[1] as RecordedAnswer,
  ]);
  t.equal(view.decision?.type, 'abandon');
  t.match(view.decision?.rationale, /failed 2 of 2 attempts/);
  t.equal(sample.git('rev-list', '--count', 'main'), '1');
});

long('a worker that returns no patch has failed its attempt', async (t) => {
  const { view } = await work(
    t,
    [twoTasks[0] as RecordedAnswer],
    [{ execution: { retry: { maxRetries: 0 } } }],
  );
  t.equal(view.decision?.type, 'abandon');
});

long('the same test failing twice causes a new plan revision and a changeLog entry', async (t) => {
  const { view, list, show, sample } = await work(
    t,
    [
      { task: 1, attempt: 1, patch: failing('one') },
      { task: 1, attempt: 2, patch: failing('one') },
      { task: 1, attempt: 1, revision: 2, patch: passing('one') },
      twoTasks[1] as RecordedAnswer,
    ],
    [
      {
        execution: { replan: { triggers: ['repeated-test-fail'] } },
        objmodel: { contextPipeline: { maxFrames: 3 } },
      },
    ],
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(show('plan.json'), { revision: 2, reason: 'repeated-test-fail' });
  t.match(show('plans/0001/plan.json'), { revision: 1 });
  t.match(show('task-1/revision-1/attempt-2/decision.json'), { type: 'checkpoint', next: 'replan' });
  t.ok(list().includes('task-1/revision-2/attempt-1/run.json'));
  const intent = 'refs/ai/intents/sample-intent-0001';
  const events = sample
    .git('ls-tree', '-r', '--name-only', intent)
    .split('\n')
    .filter((path) => path.startsWith('events/'))
    .map((path) => JSON.parse(sample.git('cat-file', 'blob', `${intent}:${path}`)));
  t.match(
    events.map(({ kind }) => kind),
    ['replanned', 'run-started', 'run-decided', 'closed'],
  );
  const frames = list().filter((path) => path.startsWith('frames/'));
  t.match(show(frames[0] ?? ''), { kind: 'IntentAnalysis', protected: true });
  t.ok(
    frames.some((path) => (show(path) as { kind: string }).kind === 'Checkpoint'),
    'a protected Checkpoint frame before the new revision',
  );
  const kept = frames.map((path) => show(path) as { seq: number; protected: boolean; evicted: boolean });
  t.strictSame(
    kept.map(({ seq, evicted }) => [seq, evicted]),
    kept.map(({ protected: stays }, index) => [index + 1, !stays && index + 1 < 6]),
    'of six frames three stay in sight: the protected ones and the last; the others are recorded as evicted',
  );
  t.equal(kept.length, 6);
  t.match(events[0], { reason: /repeated-test-fail/, diff_summary: /revision 2/ });
});

long('without a checkpoint before it, a replan is decided as retry', async (t) => {
  const { show } = await work(
    t,
    [
      { task: 1, attempt: 1, patch: add('elsewhere.txt', 'x') },
      { task: 1, attempt: 1, revision: 2, patch: passing('one') },
      twoTasks[1] as RecordedAnswer,
    ],
    [
      {
        execution: { replan: { triggers: ['scope-creep'] } },
        objmodel: { decisionPolicy: { checkpointBeforeReplan: false } },
      },
    ],
  );
  t.match(show('task-1/revision-1/attempt-1/decision.json'), { type: 'retry', next: 'replan' });
  t.match(show('tasks/0001.json'), { constraints: /elsewhere\.txt/ });
});

long('work that does not merge is done again on top of the merged work', async (t) => {
  const { view, sample, show } = await work(
    t,
    [
      {
        task: 1,
        attempt: 1,
        patch: add('test/same.test.js', `import test from 'node:test';`, `test('a', () => {});`),
      },
      {
        task: 2,
        attempt: 1,
        patch: add('test/same.test.js', `import test from 'node:test';`, `test('b', () => {});`),
      },
      { task: 2, attempt: 2, patch: passing('other') },
    ],
    [{ intent: { objectives: ['make the first thing true', 'make the second thing true'] } }],
  );
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.match(sample.git('show', '--stat', '--format=', 'main'), /other\.test\.js[\s\S]*same\.test\.js/);
  t.match(show('task-2/revision-1/attempt-2/decision.json'), { next: 'merge' });
});

long('a run writes a checkpoint near the cost cap and waits for a person above it', async (t) => {
  const near = await work(t, twoTasks, [
    {
      constraints: { resources: { maxCostUnits: 7 } },
      execution: { concurrency: { maxParallelTasks: 1 } },
    },
  ]);
  t.equal(near.view.decision?.type, 'commit', String(near.view.decision?.rationale));
  t.match(near.show('decisions/budget.json'), { type: 'checkpoint' });
  const over = await work(t, twoTasks, [{ constraints: { resources: { maxCostUnits: 5 } } }]);
  t.equal(over.view.state, 'waiting');
  t.match(over.show('waiting.json'), { for: 'budget' });
});
