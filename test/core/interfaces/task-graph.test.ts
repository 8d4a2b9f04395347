import t from 'tap';
import { checkTaskGraph } from '../../../core/interfaces/plan.ts';
import { taskOf } from '../../engine/plan/sample-plan.ts';

const keysOf = (tasks: Parameters<typeof checkTaskGraph>[0]): readonly string[] => {
  const checked = checkTaskGraph(tasks);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.order.map(({ key }) => key);
};

t.test('tasks are ordered by dependencies, then by number', async (t) => {
  t.strictSame(keysOf([taskOf(3), taskOf(1), taskOf(2)]), ['task-1', 'task-2', 'task-3']);
  t.strictSame(keysOf([taskOf(1, ['task-3']), taskOf(2), taskOf(3)]), ['task-3', 'task-1', 'task-2']);
  t.strictSame(
    keysOf([taskOf(4, ['task-2', 'task-3']), taskOf(3, ['task-1']), taskOf(2, ['task-1']), taskOf(1)]),
    ['task-1', 'task-2', 'task-3', 'task-4'],
  );
});

t.test('an invalid task graph is refused with every reason', async (t) => {
  const reasons = (tasks: Parameters<typeof checkTaskGraph>[0]): readonly unknown[] => {
    const checked = checkTaskGraph(tasks);
    return checked.ok ? [] : checked.problems.map(({ code, detail }) => [code, detail.reason]);
  };
  t.strictSame(reasons([]), [['PLAN_INVALID', 'empty']]);
  t.strictSame(reasons([taskOf(1, ['task-9'])]), [['PLAN_INVALID', 'unknown-dependency']]);
  t.strictSame(reasons([taskOf(1, ['task-1'])]), [['PLAN_INVALID', 'self-dependency']]);
  t.strictSame(reasons([taskOf(1), taskOf(2, ['task-1', 'task-1'])]), [
    ['PLAN_INVALID', 'duplicate-dependency'],
  ]);
  t.strictSame(reasons([taskOf(1), taskOf(2, [], { key: 'task-1' })]), [['PLAN_INVALID', 'duplicate-key']]);
  for (const number of [0, -1, 1.5, Number.NaN, 2 ** 53])
    t.strictSame(reasons([taskOf(1), taskOf(2, [], { number })]), [['PLAN_INVALID', 'bad-number']]);
  t.strictSame(reasons([taskOf(1), taskOf(2, [], { number: 1 })]), [['PLAN_INVALID', 'bad-number']]);
  t.equal(reasons([taskOf(1, ['x', 'task-1']), taskOf(1)]).length, 4);
  t.strictSame(reasons(Array.from({ length: 100_001 }, (_, index) => taskOf(index + 1))), [
    ['PLAN_INVALID', 'too-large'],
  ]);
});

t.test('a cycle is reported by its keys in dependency order', async (t) => {
  t.match(
    checkTaskGraph([
      taskOf(1),
      taskOf(2, ['task-4']),
      taskOf(3, ['task-2']),
      taskOf(4, ['task-1', 'task-3']),
    ]),
    {
      ok: false,
      problems: [{ code: 'PLAN_CYCLE', detail: { cycle: ['task-2', 'task-4', 'task-3'], length: 3 } }],
    },
  );
  t.match(checkTaskGraph([taskOf(1, ['task-2']), taskOf(2, ['task-1'])]), {
    ok: false,
    problems: [{ code: 'PLAN_CYCLE', detail: { cycle: ['task-1', 'task-2'] } }],
  });
});

t.test('a chain of 100,000 tasks is ordered, and a ring is refused, without recursion', async (t) => {
  const chain = Array.from({ length: 100_000 }, (_, index) => {
    const number = 100_000 - index;
    return taskOf(number, number === 100_000 ? [] : [`task-${number + 1}`]);
  });
  const keys = keysOf(chain);
  t.equal(keys[0], 'task-100000');
  t.equal(keys.at(-1), 'task-1');
  const ring = [...chain.slice(1), taskOf(100_000, ['task-1'])];
  const checked = checkTaskGraph(ring);
  if (checked.ok) throw new Error('a ring was ordered');
  const [problem] = checked.problems;
  t.match(problem, { code: 'PLAN_CYCLE', detail: { length: 100_000 } });
  t.equal((problem?.detail.cycle as readonly unknown[] | undefined)?.length, 100, 'bounded in what it names');
});
