import t from 'tap';
import { openFrontier } from '../../../engine/work/schedule.ts';
import { taskOf } from './sample-plan.ts';

const keys = (tasks: readonly { readonly key: string }[]): readonly string[] => tasks.map(({ key }) => key);
const diamond = [taskOf(4, ['task-2', 'task-3']), taskOf(3, ['task-1']), taskOf(2, ['task-1']), taskOf(1)];

t.test('hands out a task once, after everything it depends on is done', async (t) => {
  const frontier = openFrontier(diamond);
  t.equal(frontier.left, 4);
  t.strictSame(keys(frontier.ready()), ['task-1']);
  t.strictSame(frontier.ready(), []);
  frontier.done('task-1');
  t.strictSame(keys(frontier.ready(1)), ['task-2'], 'the lowest number first, as many as wanted');
  t.strictSame(keys(frontier.ready()), ['task-3']);
  frontier.done('task-3');
  t.strictSame(frontier.ready(), []);
  frontier.done('task-2');
  t.strictSame(keys(frontier.ready()), ['task-4']);
  frontier.done('task-4');
  t.equal(frontier.left, 0);
});

t.test('does not hand out tasks that were done before', async (t) => {
  const frontier = openFrontier(diamond, ['task-1', 'task-3', 'gone']);
  t.equal(frontier.left, 2);
  t.strictSame(keys(frontier.ready()), ['task-2']);
  frontier.done('task-2');
  t.strictSame(keys(frontier.ready()), ['task-4']);
});

t.test('`done` refuses a task that was not handed out or is done already', async (t) => {
  const frontier = openFrontier(diamond);
  t.throws(() => frontier.done('task-1'), { code: 'INTERNAL' });
  frontier.ready();
  frontier.done('task-1');
  t.throws(() => frontier.done('task-1'), { code: 'INTERNAL' });
  t.throws(() => frontier.done('task-9'), { code: 'INTERNAL' });
});

t.test('hands out a wide plan in the order of task numbers', async (t) => {
  const count = 1000;
  const tasks = Array.from({ length: count }, (_, index) => taskOf(((index * 389) % count) + 1));
  const frontier = openFrontier(tasks);
  const taken = Array.from({ length: count }, () => frontier.ready(1)[0]?.number);
  t.strictSame(
    taken,
    Array.from({ length: count }, (_, index) => index + 1),
  );
});
