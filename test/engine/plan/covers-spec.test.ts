import t from 'tap';
import type { PlanDraft, PlannedTask } from '../../../core/interfaces/plan.ts';
import { coversSpec } from '../../../engine/plan/plan-tasks.ts';
import { draftOf, specOf } from './sample-plan.ts';

const wish = {
  objectives: ['write src/a.ts', 'write docs/b.md'],
  checks: { fast: ['unit', 'lint'], release: ['notes'] },
};
const spec = specOf(wish);
const draft = draftOf(wish);
const [first, second, fast, release] = draft.tasks as readonly [
  PlannedTask,
  PlannedTask,
  PlannedTask,
  PlannedTask,
];
const reasons = (tasks: readonly PlannedTask[], who: 'patch' | 'worker' = 'worker'): readonly unknown[] =>
  coversSpec({ revision: 1, tasks } satisfies PlanDraft, spec, who).map(({ code, detail }) => {
    t.equal(code, 'PLAN_INVALID');
    return detail.reason;
  });

t.test('accepts the draft plan of the spec and plans that only add to it', async (t) => {
  t.strictSame(reasons(draft.tasks), []);
  const careful = {
    ...second,
    dependsOn: ['task-1'],
    constraints: [...second.constraints, 'in small steps'],
  };
  t.strictSame(reasons([first, careful, fast, release]), []);
  const more = { ...second, key: 'task-extra', number: 9, dependsOn: ['task-2'] };
  t.strictSame(reasons([first, second, more, { ...fast, dependsOn: ['task-1', 'task-extra'] }, release]), []);
});

t.test('reports each objective, boundary or gate that a plan drops or changes', async (t) => {
  const cases: readonly (readonly [string, readonly PlannedTask[]])[] = [
    ['objective-dropped', [first, { ...second, steps: ['write less'] }, fast, release]],
    ['no-steps', [{ ...first, steps: [] }, { ...second, steps: wish.objectives }, fast, release]],
    ['boundary-dropped', [{ ...first, constraints: [] }, second, fast, release]],
    ['boundary-dropped', [{ ...first, acceptanceCriteria: ['looks fine'] }, second, fast, release]],
    ['gate-dropped', [first, second, fast]],
    ['gate-changed', [first, second, { ...fast, steps: ['unit'] }, release]],
    ['gate-changed', [first, second, { ...fast, gateStages: ['integration'] }, release]],
    ['gate-early', [first, second, { ...fast, dependsOn: ['task-1'] }, release]],
    ['gate-early', [first, second, fast, { ...release, dependsOn: ['task-1', 'task-2'] }]],
    ['gate-added', [first, second, fast, release, { ...release, key: 'gate-more', number: 9 }]],
  ];
  for (const [reason, tasks] of cases) t.strictSame(reasons(tasks), [reason], reason);
});

t.test('a supplied patch must stay one task', async (t) => {
  t.strictSame(reasons(draft.tasks, 'patch'), ['not-one-task']);
});
