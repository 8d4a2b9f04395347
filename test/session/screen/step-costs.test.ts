import t from 'tap';
import { lineCostWords, planCostWords, stepCosts } from '../../../session/screen/words.ts';

t.test('a plan line shows its estimated cost beside its actual cost', async (t) => {
  const estimates = [
    { line: 'a.1', tokens: 12_000, costUsd: 0.03 },
    { line: 'b.1', tokens: 800 },
  ];
  const costs = stepCosts({ estimates, actuals: [{ line: 'a.1', tokens: 14_000, costUsd: 0.04 }] });
  t.strictSame(
    [...costs],
    [
      ['a.1', 'estimated 12k tokens, $0.03 · actual 14k, $0.04'],
      ['b.1', 'estimated 800 tokens'],
    ],
  );
  t.equal(stepCosts({}).size, 0);
});

t.test('a plan question shows the estimated cost and what the estimate is based on', async (t) => {
  const estimated = { tokens: 34_000, costUsd: 0.08 };
  t.equal(planCostWords({ estimated, estimatedFrom: 0 }), 'estimated 34k tokens, $0.08 (assumed)');
  t.equal(
    planCostWords({ estimated: { tokens: 900 }, estimatedFrom: 1 }),
    'estimated 900 tokens (from 1 earlier task)',
  );
  t.match(planCostWords({ estimated, estimatedFrom: 7 }), /from 7 earlier tasks/);
  t.equal(planCostWords({}), '');
  t.equal(planCostWords({ estimated: { tokens: 0 } }), '');
  const estimates = [
    { line: 'a.1', tokens: 12_000 },
    { line: 'b.1', tokens: 800, costUsd: 0.02 },
    { line: 'gone', tokens: 1 },
  ];
  t.strictSame(lineCostWords({ estimates, lines: ['a.1', 'a.2', 'b.1'] }), [
    'line 1: estimated 12k tokens',
    'line 3: estimated 800 tokens, $0.02',
  ]);
  t.strictSame(lineCostWords({ estimates: estimates.slice(0, 1), lines: ['a.1'] }), [], 'the sum says it');
});
