import t from 'tap';
import { long } from '../../rooms/long.ts';
import { draftOf, outcomeOf, specOf, workOf } from './sample-plan.ts';

const three = ['src/a.ts answers', 'the docs say so in docs/a.md', 'nobody waits'];

t.test('with per-objective, each objective becomes its own task, in order', async (t) => {
  t.strictSame(workOf(draftOf({ objectives: three })), [
    ['task-1', ['src/a.ts answers'], ['src/a.ts'], []],
    ['task-2', ['the docs say so in docs/a.md'], ['docs/a.md'], []],
    ['task-3', ['nobody waits'], undefined, []],
  ]);
});

t.test(
  'with single-task, one task holds all objectives and knows its writes only if all are known',
  async (t) => {
    const wish = { decompositionMode: 'single-task' } as const;
    t.strictSame(workOf(draftOf({ objectives: three, ...wish })), [['task-1', three, undefined, []]]);
    t.strictSame(workOf(draftOf({ objectives: three.slice(0, 2), ...wish })), [
      ['task-1', three.slice(0, 2), ['src/a.ts', 'docs/a.md'], []],
    ]);
  },
);

t.test('a supplied patch is one task, whatever the spec says', async (t) => {
  for (const decompositionMode of ['per-objective', 'per-file-cluster', 'single-task'] as const) {
    const draft = draftOf(
      { objectives: three, decompositionMode, conflictResolution: 'fail-fast' },
      {},
      'patch',
    );
    t.strictSame(workOf(draft), [['task-1', three, undefined, []]]);
  }
});

t.test('a task holds the title, goal, constraints and acceptance criteria of the spec', async (t) => {
  const wish = { objectives: ['one thing'], inScope: ['src/'], outOfScope: ['src/old/'] };
  const spec = specOf(wish);
  t.match(draftOf(wish).tasks[0], {
    key: 'task-1',
    number: 1,
    kind: 'implementation',
    title: spec.intent.summary,
    goal: spec.intent.changeType,
    constraints: ['in-scope:src/', 'out-of-scope:src/old/', `risk-rationale:${spec.risk.rationale}`],
    acceptanceCriteria: spec.acceptance.successCriteria,
  });
});

t.test(
  'predicted writes stay in scope, exclude forbidden paths and are relative to the package',
  async (t) => {
    const writes = (objective: string, wish: object) =>
      draftOf({ objectives: [objective], ...wish }).tasks[0]?.predictedWrites;
    const narrow = { inScope: ['src/http/ and package.json'], outOfScope: ['src/http/legacy/'] };
    t.strictSame(writes('change src/http/a.ts and docs/b.md', narrow), ['src/http/a.ts']);
    t.strictSame(writes('change src/http/legacy/a.ts', narrow), undefined);
    t.strictSame(writes('change src/**/*.ts', narrow), ['src/**/*.ts'], 'a glob that reaches into scope');
    t.strictSame(writes('change test/*.ts', narrow), undefined);
    t.strictSame(
      writes('update package-lock.json', narrow),
      ['package-lock.json'],
      'it follows its manifest',
    );
    t.strictSame(writes('change src/a.ts', { inScope: ['src/'], root: 'packages/one' }), [
      'packages/one/src/a.ts',
    ]);
  },
);

const overlapping = {
  objectives: ['write src/a.ts', 'write docs/x.md', 'tidy src/', 'write src/b.ts', 'nobody waits'],
};

t.test(
  'with force-serial, overlapping tasks depend on each other in the order of the objectives',
  async (t) => {
    t.strictSame(
      draftOf({ ...overlapping, conflictResolution: 'force-serial' }).tasks.map(({ key, dependsOn }) => [
        key,
        dependsOn,
      ]),
      [
        ['task-1', []],
        ['task-2', []],
        ['task-3', ['task-1']],
        ['task-4', ['task-3']],
        ['task-5', []],
      ],
    );
  },
);

t.test('with merge-tasks, tasks with overlapping writes become one, even through a third task', async (t) => {
  t.strictSame(workOf(draftOf({ ...overlapping, conflictResolution: 'merge-tasks' })), [
    ['task-1', ['write src/a.ts', 'tidy src/', 'write src/b.ts'], ['src/a.ts', 'src/', 'src/b.ts'], []],
    ['task-2', ['write docs/x.md'], ['docs/x.md'], []],
    ['task-3', ['nobody waits'], undefined, []],
  ]);
});

t.test('with fail-fast, an overlap is a PLAN_CONFLICT that names both tasks and the path', async (t) => {
  t.match(outcomeOf({ ...overlapping, conflictResolution: 'fail-fast' }), {
    ok: false,
    problems: [
      { code: 'PLAN_CONFLICT', detail: { tasks: ['task-1', 'task-3'], path: 'src/a.ts' } },
      { code: 'PLAN_CONFLICT', detail: { tasks: ['task-3', 'task-4'], path: 'src/b.ts' } },
    ],
  });
  t.ok(outcomeOf({ objectives: three, conflictResolution: 'fail-fast' }).ok, 'no overlap, no error');
});

const checks = { fast: ['lint', 'unit'], security: ['sca'], release: ['notes'] };

t.test('each stage that lists checks gets one gate task, in sequence after all work', async (t) => {
  const gates = draftOf({ objectives: three, checks }).tasks.filter(({ kind }) => kind === 'gate');
  t.strictSame(
    gates.map(({ key, number, steps, dependsOn, gateStages }) => [key, number, steps, dependsOn, gateStages]),
    [
      ['gate-fast', 4, ['lint', 'unit'], ['task-1', 'task-2', 'task-3'], ['fast']],
      ['gate-security', 5, ['sca'], ['gate-fast'], ['security']],
      ['gate-release', 6, ['notes'], ['gate-security'], ['release']],
    ],
  );
  t.notOk(
    draftOf({ objectives: three }).tasks.some(({ kind }) => kind === 'gate'),
    'no check, no gate',
  );
});

t.test('without `gateTaskPerStage` one gate task holds the checks of all stages', async (t) => {
  const gates = draftOf({ objectives: three, checks, gateTaskPerStage: false }).tasks.slice(3);
  t.match(gates, [
    {
      key: 'gate',
      number: 4,
      steps: ['lint', 'unit', 'sca', 'notes'],
      dependsOn: ['task-1', 'task-2', 'task-3'],
      gateStages: ['fast', 'security', 'release'],
    },
  ]);
  t.equal(gates.length, 1);
});

t.test('refuses objectives with the same words, however they are spaced', async (t) => {
  const outcome = outcomeOf({ objectives: ['do  this', 'that', ' do\tthis\n', 'that'] });
  t.match(outcome, {
    ok: false,
    problems: [
      {
        code: 'PLAN_DUPLICATE_OBJECTIVE',
        detail: { objectives: [0, 2], paths: ['/intent/objectives/0', '/intent/objectives/2'] },
      },
      { code: 'PLAN_DUPLICATE_OBJECTIVE', detail: { objectives: [1, 3] } },
    ],
  });
  t.match(outcomeOf({ objectives: ['do this', 'do this'] }, {}, 'patch'), { ok: false });
  t.ok(outcomeOf({ objectives: ['do this', 'Do this'] }).ok);
});

long('refuses more objectives than a plan may have tasks', async (t) => {
  const objectives = Array.from({ length: 100_001 }, (_, index) => `do thing ${index}`);
  t.match(outcomeOf({ objectives }), {
    ok: false,
    problems: [{ code: 'PLAN_INVALID', detail: { reason: 'too-large' } }],
  });
});
