import t from 'tap';
import { approversNeeded } from '../../../engine/decide/budget.ts';
import { costLimit } from '../../../engine/record/plan-state.ts';
import type { OpenRun } from '../../../engine/state/open-run.ts';
import { type Steps, stepsOver } from '../../../engine/state/record-collector.ts';
import { lackingCitations } from '../../../store/record/summaries.ts';

const memory = (): Steps => stepsOver({ records: [], append: async () => undefined });

t.test('the cost cap comes from the spec and grows with each grant', async (t) => {
  const limit = (maxCostUnits: number, steps: Steps, moreCostUnits?: number): Promise<number> =>
    costLimit({
      identity: { contract: { effective: { constraints: { resources: { maxCostUnits } } } } },
      services: { steps, moreCostUnits },
    } as unknown as OpenRun);

  t.equal(await limit(10, memory()), 10, 'is that of the spec');
  t.equal(await limit(0, memory(), 5), 0, 'is none if the spec has none, whatever is granted');

  const steps = memory();
  t.equal(await limit(10, steps, 5), 15, 'grows by a grant');
  t.equal(await limit(10, steps), 15, 'keeps an earlier grant');
  t.equal(await limit(10, steps, 3), 18, 'adds a second grant to the first');
  t.strictSame(steps.ended('more-cost/2'), { answer: 3 });
  t.equal(await limit(10, steps), 18);
});

t.test('the number of approvers comes from the spec, with at least two for governing files', async (t) => {
  const needed = (required: boolean, of: number, touches: boolean): number =>
    approversNeeded({ required, needed: of }, touches);
  t.equal(needed(false, 3, false), 0, 'none if the spec requires none');
  t.equal(needed(true, 0, false), 1, 'at least one if it requires any');
  t.equal(needed(true, 3, false), 3);
  t.equal(needed(false, 0, true), 2, 'two for files that govern writ');
  t.equal(needed(true, 3, true), 3);
});

t.test('each step requires citations from enough distinct sources that count', async (t) => {
  const decision = (name: string, step: number | undefined, ...sources: readonly [string, boolean][]) => ({
    decision: name,
    ...(step === undefined ? {} : { step }),
    sources: sources.map(([source, counts]) => ({ source, counts })),
  });
  const lacking = (needed: number, steps: number, ...first: ReturnType<typeof decision>[]) =>
    lackingCitations({ needed, steps, count: first.length, first }).map(({ message }) => message);

  t.strictSame(lacking(0, 3), [], 'are not required if the spec needs none');
  t.strictSame(lacking(2, 1, decision('d', 1, ['a', true], ['b', true])), []);
  t.strictSame(
    lacking(2, 1, decision('d', 1, ['a', true], ['a', true], ['b', false])),
    ['`d` rests on 1 of 2 sources that count'],
    'count each source once, and only those that count',
  );
  t.strictSame(
    lacking(2, 0, decision('d', undefined, ['a', true]), decision('d', undefined, ['b', true])),
    [],
    'of one decision add up',
  );
  t.strictSame(
    lacking(1, 3, decision('d', 2, ['a', true])),
    ['no decision is recorded for step 1', 'no decision is recorded for step 3'],
    'are required for each step',
  );
  t.strictSame(
    lackingCitations({ needed: 1, steps: 0, count: 3, first: [decision('d', undefined, ['a', true])] }),
    [{ rule: 'citations', severity: 'error', message: 'of 3 decisions only 1 are evaluated' }],
    'that were not kept are an error',
  );
});
