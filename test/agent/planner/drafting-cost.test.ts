import type { Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

const cap = (units: number) => ({
  ...priceDraft,
  policy: [{ field: 'constraints.resources.maxCostUnits', value: JSON.stringify(units) }],
});

function stored(sample: Sample, run: string, path: string) {
  return JSON.parse(sample.git('show', `refs/ai/runs/${run}:${path}`));
}

long('the cost of drafting is part of the cost of the run', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([
    { calls: [['list_dir', { path: '.' }]] },
    submits(priceDraft),
    ...makesFix,
  ]);
  const ran = await ask(sample, model, ['--yes']);
  t.match(ran, { code: 0 }, JSON.stringify(ran.error));
  const run = ran.data.run_id;
  const { asked } = (await call(sample, ['show', run])).data;
  t.ok(asked.tokens > 0 && asked.cost_units > 0);
  const whole = stored(sample, run, 'run.json').metrics;
  const input = stored(sample, run, 'decision-input.json');
  t.ok(input.cost.usedUnits > asked.cost_units);
  t.equal(whole.cost_usd, input.cost.usedUnits / 1000);
  t.ok(whole.tokens_used > asked.tokens);
  t.match(await call(sample, ['replay', run]), { code: 0, data: { equal: true } });
});

long('drafting alone can exceed the budget, and more budget resumes the run', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(cap(1)), ...makesFix]);
  const ran = await ask(sample, model, ['--yes']);
  t.match(ran, { code: 4, data: { state: 'waiting', waiting: { for: 'budget' } } }, JSON.stringify(ran.data));
  t.match(ran.data.decision.rationale, 'used 2 of 1 cost units');
  t.match(stored(sample, ran.data.run_id, 'waiting/decision-input.json').cost, { usedUnits: 2 });
  const resumed = await call(sample, ['resume', ran.data.run_id, '--more-cost-units', '5']);
  t.match(resumed, { code: 0, data: { decision: { type: 'commit' } } });
  t.match(await call(sample, ['replay', ran.data.run_id]), { code: 0, data: { equal: true } });
});

long('the cost of earlier drafts is counted', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(cap(9)), submits(cap(9)), ...makesFix]);
  const ran = await ask(sample, model, [], { terminal: true, stdin: 'm\nWithout a new test.\nc\n' });
  t.match(ran, { code: 0 }, JSON.stringify(ran.error));
  t.equal(stored(sample, ran.data.run_id, 'decision-input.json').cost.usedUnits, 3);
});
