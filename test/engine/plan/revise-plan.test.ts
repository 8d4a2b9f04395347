import t from 'tap';
import { parsePlanDraft } from '../../../core/kernel/answer.ts';
import { type ReplanReason, revisePlan } from '../../../engine/plan/revise-plan.ts';
import { taskOf } from './sample-plan.ts';

const plan = {
  revision: 1,
  tasks: [
    taskOf(1, [], { constraints: ['in-scope:src/'] }),
    taskOf(2, ['task-1'], { constraints: ['in-scope:src/'] }),
    taskOf(3, ['task-2']),
    taskOf(4),
    taskOf(5),
  ],
};
const reason: ReplanReason = {
  trigger: 'security-gate-fail',
  done: ['task-1', 'task-4'],
  failed: ['task-2'],
  detail: 'sast found one',
};

t.test('a revision keeps finished tasks and redoes the failed task and its dependents', async (t) => {
  const before = structuredClone(plan);
  const next = revisePlan(plan, reason);
  t.match(next, {
    revision: 2,
    revised: {
      previous: 1,
      trigger: 'security-gate-fail',
      kept: ['task-1', 'task-4'],
      redo: ['task-2', 'task-3'],
    },
  });
  t.match(next.revised?.diffSummary, /security-gate-fail at `task-2`/);
  t.match(next.revised?.diffSummary, 'sast found one');
  t.strictSame(next.tasks, plan.tasks, 'the work itself is the same');
  t.strictSame(plan, before, 'the plan before is immutable');
  t.strictSame(parsePlanDraft(next), next, 'a revision is a draft that can be read');
  t.equal(revisePlan(next, reason).revision, 3);
});

t.test('a revision does not keep finished tasks that depend on the failed one', async (t) => {
  const next = revisePlan(plan, { ...reason, done: ['task-1', 'task-2', 'task-3'], failed: ['task-1'] });
  t.strictSame(next.revised?.kept, []);
  t.strictSame(next.revised?.redo, ['task-1', 'task-2', 'task-3']);
});

t.test(
  'with scope-creep, refused paths become constraints of the failed task, without duplicates',
  async (t) => {
    const creep = { ...reason, trigger: 'scope-creep', paths: ['docs/a.md', 'odd\nname'] } as const;
    const next = revisePlan(revisePlan(plan, creep), creep);
    t.strictSame(next.tasks[1]?.constraints, [
      'in-scope:src/',
      'out-of-scope:docs/a.md',
      'out-of-scope:odd?name',
    ]);
    t.strictSame(next.tasks[0]?.constraints, ['in-scope:src/']);
    t.match(next.revised?.diffSummary, 'docs/a.md');
  },
);

t.test('with repeated-test-fail, only the newest failing tests become a constraint', async (t) => {
  const failing = (tests: readonly string[]) =>
    ({ ...reason, trigger: 'repeated-test-fail', tests }) as const;
  const next = revisePlan(revisePlan(plan, failing(['old'])), failing(['sums up', 'rounds']));
  t.strictSame(next.tasks[1]?.constraints, ['in-scope:src/', 'failing-tests:`sums up`, `rounds`']);
});

t.test('constraints and summary of a revision stay within their limits', async (t) => {
  const long = Array.from({ length: 5000 }, (_, index) => `${index} ${'x'.repeat(5000)}`);
  const name = (index: number) => `task-${index}-${'k'.repeat(50)}`;
  const wide = {
    revision: 1,
    tasks: [
      taskOf(2),
      ...Array.from({ length: 60 }, (_, index) =>
        taskOf(index + 3, index < 30 ? [] : ['task-2'], { key: name(index) }),
      ),
    ],
  };
  const done = Array.from({ length: 30 }, (_, index) => name(index));
  for (const trigger of ['repeated-test-fail', 'scope-creep', 'unknown-api', 'evidence-conflict'] as const) {
    const next = revisePlan(wide, {
      ...reason,
      done,
      trigger,
      tests: long,
      paths: long,
      detail: long.join(' '),
    });
    const summary = next.revised?.diffSummary ?? '';
    t.ok(summary.length >= 1 && summary.length <= 4000, `${trigger}: ${summary.length}`);
    t.ok((next.tasks[0]?.constraints.length ?? 0) <= 102);
    t.ok(next.tasks[0]?.constraints.every((entry) => entry.length < 5000));
  }
});

t.test('refuses a reason that names a task outside the plan', async (t) => {
  t.throws(() => revisePlan(plan, { ...reason, failed: ['task-9'] }), { code: 'INTERNAL' });
  t.throws(() => revisePlan(plan, { ...reason, done: ['task-9'] }), { code: 'INTERNAL' });
});
