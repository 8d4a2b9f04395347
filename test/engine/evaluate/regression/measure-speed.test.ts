import t from 'tap';
import type { CheckOutcome } from '../../../../core/interfaces/check.ts';
import { measureSpeed } from '../../../../engine/evaluate/regression.ts';

type Side = 'base' | 'candidate';
const wrote = (metrics: unknown): CheckOutcome => ({
  findings: [],
  reports: [{ name: 'metrics.json', bytes: Buffer.from(JSON.stringify(metrics)) }],
});
const failing: CheckOutcome = {
  findings: [{ rule: 'check-outcome', severity: 'error', message: 'it failed' }],
  reports: [],
};

t.test('base and candidate alternate, and each round records one value per side', async (t) => {
  const order: Side[] = [];
  const speed = await measureSpeed(async (side) => {
    order.push(side);
    return wrote({ ms: { value: order.length, unit: 'ms' } });
  }, 3);
  t.strictSame(order, ['base', 'candidate', 'candidate', 'base', 'base', 'candidate']);
  t.strictSame(speed, {
    measured: [{ name: 'ms', unit: 'ms', better: 'lower', base: [1, 4, 5], candidate: [2, 3, 6] }],
    incomparable: [],
    onlyInCandidate: [],
  });
});

t.test('a metric that the candidate drops or redefines is incomparable', async (t) => {
  const bySide = (base: unknown, candidate: unknown) =>
    measureSpeed(async (side) => wrote(side === 'base' ? base : candidate), 3);
  t.match(await bySide({ a: 1, b: 1 }, { a: 1 }), {
    measured: [{ name: 'a' }],
    incomparable: [{ name: 'b' }],
  });
  t.match((await bySide({ a: { value: 1, unit: 'ms' } }, { a: { value: 1, unit: 's' } })).incomparable, [
    { name: 'a' },
  ]);
  const turned = await bySide({ a: 1 }, { a: { value: 9, better: 'higher' } });
  t.match(turned.incomparable, [{ name: 'a' }], 'the candidate does not choose what is better');
  t.strictSame((await bySide({ a: 1 }, { a: 1, c: 1 })).onlyInCandidate, ['c']);
});

t.test('a side that fails or writes no metrics ends the measurement', async (t) => {
  for (const broken of [failing, { findings: [], reports: [] }]) {
    for (const side of ['base', 'candidate'] as const) {
      let runs = 0;
      const speed = await measureSpeed(async (at) => {
        runs += 1;
        return at === side ? broken : wrote({ a: 1 });
      }, 3);
      t.match(speed.unmeasured, { side });
      t.ok(runs <= 2);
    }
  }
});

t.test('an error finding of a side ends the measurement, and a warning does not', async (t) => {
  const metrics = wrote({ a: 1 });
  const saying = (severity: 'error' | 'warning') =>
    measureSpeed(
      async (side) =>
        side === 'base'
          ? metrics
          : { ...metrics, findings: [{ rule: 'check-outcome', severity, message: 'told' }] },
      3,
    );
  t.match(await saying('error'), { unmeasured: { side: 'candidate', reason: 'round 1: told' } });
  const warned = await saying('warning');
  t.equal(warned.unmeasured, undefined);
  t.match(warned.measured, [{ name: 'a', base: [1, 1, 1], candidate: [1, 1, 1] }]);
});
