import t from 'tap';
import type { Clock } from '../../../core/base/clock.ts';
import { CheckWatch } from '../../../engine/evaluate/check-workspace.ts';

/** A wall clock that somebody sets, and one that goes on. */
function hands(): Clock & { pass(ms: number): void; set(ms: number): void } {
  const start = Date.UTC(2026, 0, 1);
  let [wall, even] = [start, 40.25];
  return {
    now: () => wall,
    monotonic: () => even,
    sleep: async () => {},
    pass(ms) {
      wall += ms;
      even += ms;
    },
    set(ms) {
      wall += ms;
    },
  };
}

t.test('the time of a check covers its command, and its workspace is timed separately', async (t) => {
  const clock = hands();
  const watch = new CheckWatch(clock);
  clock.pass(10);
  await watch.making(async () => clock.pass(3000));
  clock.pass(5);
  await watch.running(async () => clock.pass(700));
  clock.pass(400);
  t.same(watch.read(), { startedAt: '2026-01-01T00:00:03.015Z', durationMs: 700, workspaceMs: 3000 });
});

t.test('a check that runs its command twice lasts from the first start to the last end', async (t) => {
  const clock = hands();
  const watch = new CheckWatch(clock);
  for (const ms of [100, 200]) {
    await watch.making(async () => clock.pass(50));
    await watch.running(async () => clock.pass(ms));
  }
  t.same(watch.read(), { startedAt: '2026-01-01T00:00:00.050Z', durationMs: 350, workspaceMs: 50 });
});

t.test('a check without a command lasts from its creation to its reading', async (t) => {
  const clock = hands();
  const watch = new CheckWatch(clock);
  clock.pass(20);
  t.same(watch.read(), { startedAt: '2026-01-01T00:00:00.000Z', durationMs: 20 });
  const refused = new CheckWatch(clock);
  await refused.making(async () => clock.pass(30));
  clock.pass(1);
  t.same(refused.read(), { startedAt: '2026-01-01T00:00:00.050Z', durationMs: 1, workspaceMs: 30 });
});

t.test('a command that throws ends the time of its check', async (t) => {
  const clock = hands();
  const watch = new CheckWatch(clock);
  const lost = watch.running(async () => {
    clock.pass(9);
    throw new Error('lost');
  });
  await t.rejects(lost);
  clock.pass(90);
  t.match(watch.read(), { durationMs: 9 });
});

t.test('a wall clock change during a check is recorded and does not alter its duration', async (t) => {
  for (const step of [-3_600_000, 3_600_000]) {
    const clock = hands();
    const watch = new CheckWatch(clock);
    await watch.running(async () => {
      clock.pass(300);
      clock.set(step);
      clock.pass(400);
    });
    t.same(watch.read(), { startedAt: '2026-01-01T00:00:00.000Z', durationMs: 700, clockStepMs: step });
  }
  const slewed = hands();
  const watch = new CheckWatch(slewed);
  await watch.running(async () => slewed.set(-12));
  t.same(watch.read(), { startedAt: '2026-01-01T00:00:00.000Z', durationMs: 0 });
});
