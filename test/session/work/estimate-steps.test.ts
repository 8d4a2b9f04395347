import t from 'tap';
import { estimateSteps, totalOf } from '../../../session/work/plan-step.ts';

const tasks = [
  { line: 'task-1.1', fileBytes: 0 },
  { line: 'task-2.1', fileBytes: 40_000 },
];

t.test('an estimate grows with the size of the spec and the files of its task', async (t) => {
  const estimates = estimateSteps({ tasks, contractBytes: 4000, earlier: [] });
  t.strictSame(estimates, [
    { line: 'task-1.1', tokens: 31_200 },
    { line: 'task-2.1', tokens: 61_200 },
  ]);
  t.strictSame(totalOf(estimates), { tokens: 92_400 }, 'without a price nothing is said of money');
});

t.test('an estimate uses earlier tasks of the thread and the price of a token', async (t) => {
  const estimates = estimateSteps({
    tasks,
    contractBytes: 4000,
    earlier: [9000, 1000, 2000],
    usdPerToken: 0.00001,
  });
  t.strictSame(estimates, [
    { line: 'task-1.1', tokens: 2000, costUsd: 0.02 },
    { line: 'task-2.1', tokens: 2000, costUsd: 0.02 },
  ]);
  t.strictSame(totalOf(estimates), { tokens: 4000, costUsd: 0.04 });
  t.strictSame(totalOf([]), { tokens: 0 });
});
