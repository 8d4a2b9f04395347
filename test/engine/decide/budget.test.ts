import t, { type Test } from 'tap';
import { type Clock, toRfc3339 } from '../../../core/base/clock.ts';
import {
  type CostBudget,
  isCheckpointDue,
  isNearCap,
  isOverCap,
  taskLimit,
  usedCostUnits,
} from '../../../engine/decide/budget.ts';
import { resumedType, startWallClock, waitingType } from '../../../engine/state/spent.ts';

const budget = (limitUnits: number, usedUnits: number): CostBudget => ({ limitUnits, usedUnits });

t.test('tasks run one at a time from 90 % of the cost cap', async (t) => {
  for (const [limit, used, parallel] of [
    [100, 0, 4],
    [100, 89.999, 4],
    [100, 90, 1],
    [100, 100, 1],
    [100, 250, 1],
    [3, 2.69, 4],
    [3, 2.7, 1],
    [1, 0.9, 1],
    [0, 1_000_000, 4],
  ] as const) {
    t.equal(taskLimit(4, budget(limit, used)), parallel, `${used} of ${limit}`);
    t.equal(isNearCap(budget(limit, used)), parallel === 1);
  }
  t.equal(taskLimit(1, budget(100, 0)), 1);
});

t.test('a run exceeds its cost cap only when it has used more than the cap', async (t) => {
  t.notOk(isOverCap(budget(100, 100)));
  t.ok(isOverCap(budget(100, 100.001)));
  t.notOk(isOverCap(budget(0, 1_000_000)));
});

t.test('one checkpoint is due when the cost of a run reaches 90 % of its cap', async (t) => {
  for (const costs of [
    [10, 10, 10, 60, 5, 5, 30],
    [95, 5],
    [90],
    [89, 0.5, 0.5, 1],
    new Array(150).fill(1),
  ]) {
    let used = 0;
    let due = 0;
    for (const cost of costs) {
      if (isCheckpointDue(100, used, used + cost)) due += 1;
      used += cost;
    }
    t.equal(due, 1, costs.slice(0, 8).join(' '));
  }
  t.notOk(isCheckpointDue(100, 0, 89));
  t.notOk(isCheckpointDue(0, 0, 1_000_000), 'without a cap there is none to come near');
  t.ok(isCheckpointDue(200, 120, 185), 'a cap that a person raised is come near to again');
});

t.test('costs are summed, and an invalid cost throws INTERNAL', async (t) => {
  t.equal(usedCostUnits([]), 0);
  t.equal(usedCostUnits([{ costUnits: 1.5 }, { costUnits: 0 }, { costUnits: 20 }]), 21.5);
  for (const costUnits of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => usedCostUnits([{ costUnits: 5 }, { costUnits }]), { code: 'INTERNAL' });
  }
});

interface Mark {
  readonly type: string;
  readonly atMs: number;
}

/** What is left of a wall clock that is taken up at `nowMs`; sleeping is what counts it down. */
function leftSeconds(t: Test, limitSeconds: number, nowMs: number, marks: readonly Mark[]): number {
  let slept = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => 0,
    sleep: (ms) => {
      slept = ms;
      return new Promise(() => {});
    },
  };
  const records = marks.map(({ type, atMs }, at) => ({
    seq: at,
    at: toRfc3339(atMs),
    type,
    data: {},
    prev: '',
  }));
  const wallClock = startWallClock(limitSeconds, 0, records, clock);
  wallClock.end();
  t.equal(wallClock.exceeded(), slept === 0);
  t.equal(wallClock.signal.aborted, slept === 0);
  return slept / 1000;
}

t.test(
  'the wall clock counts all processes together and pauses only while a run waits for people',
  async (t) => {
    const waits = { type: waitingType, atMs: 10_000 };
    const goesOn = { type: resumedType, atMs: 5_000_000 };
    t.equal(leftSeconds(t, 60, 0, []), 60);
    t.equal(
      leftSeconds(t, 60, 20_000, [{ type: 'step-begun', atMs: 10_000 }]),
      40,
      'a new process gets no new budget',
    );
    t.equal(
      leftSeconds(t, 60, 5_000_000, [{ type: 'step-begun', atMs: 10_000 }, goesOn]),
      0,
      'a kill is no wait',
    );
    t.equal(leftSeconds(t, 60, 5_000_000, [waits, goesOn]), 50, 'waiting is');
    t.equal(leftSeconds(t, 60, 5_020_000, [waits, goesOn]), 30);
    const again = [
      { type: waitingType, atMs: 5_010_000 },
      { type: resumedType, atMs: 9_000_000 },
    ];
    t.equal(leftSeconds(t, 60, 9_000_000, [waits, goesOn, ...again]), 40, 'twice');
  },
);

t.test('a clock that is set back does not extend the budget', async (t) => {
  t.equal(leftSeconds(t, 60, 0, [{ type: 'step-ended', atMs: 45_000 }]), 15);
  t.equal(leftSeconds(t, 60, -1_000_000, []), 60);
  t.equal(
    leftSeconds(t, 60, 20_000, [
      { type: waitingType, atMs: 30_000 },
      { type: resumedType, atMs: 10_000 },
    ]),
    40,
    'nor does a wait that ended before it began take any',
  );
});
