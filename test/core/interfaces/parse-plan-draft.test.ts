import t from 'tap';
import { parsePlanDraft } from '../../../core/kernel/answer.ts';
import { draftOf, taskOf } from '../../engine/plan/sample-plan.ts';

const draft = draftOf({
  objectives: ['write src/a.ts', 'write src/', 'wait'],
  checks: { fast: ['unit'], release: ['notes'] },
});

t.test('a valid draft is returned unchanged as a new object', async (t) => {
  const parsed = parsePlanDraft(draft);
  t.strictSame(parsed, draft);
  t.not(parsed.tasks[0], draft.tasks[0]);
});

t.test('an invalid draft is refused', async (t) => {
  const withTask = (change: object) => ({ ...draft, tasks: [{ ...taskOf(1), ...change }] });
  const nonsense: readonly unknown[] = [
    undefined,
    null,
    [],
    {},
    { ...draft, revision: 0 },
    { ...draft, more: 1 },
    { ...draft, tasks: [] },
    { ...draft, tasks: new Array(3) },
    { ...draft, tasks: new Array(100_001).fill(taskOf(1)) },
    { ...draft, revised: { previous: 1 } },
    withTask({ more: 1 }),
    withTask({ key: '../../etc' }),
    withTask({ key: 'Task 1' }),
    withTask({ key: 'x'.repeat(65) }),
    withTask({ number: '1' }),
    withTask({ kind: 'other' }),
    withTask({ title: '' }),
    withTask({ steps: 'all' }),
    withTask({ steps: [1] }),
    withTask({ constraints: ['x'.repeat(8193)] }),
    withTask({ gateStages: ['never'] }),
    withTask({ predictedWrites: ['../outside'] }),
    withTask({ predictedWrites: ['/etc/passwd'] }),
    withTask({ predictedWrites: ['a\0b'] }),
    withTask({ dependsOn: ['task-2'] }),
    withTask({ dependsOn: ['task-1'] }),
    { revision: 1, tasks: [taskOf(1, ['task-2']), taskOf(2, ['task-1'])] },
    { revision: 1, tasks: [taskOf(1), taskOf(1)] },
  ];
  for (const value of nonsense) t.throws(() => parsePlanDraft(value), JSON.stringify(value)?.slice(0, 200));
  t.doesNotThrow(() => parsePlanDraft(withTask({})));
});
