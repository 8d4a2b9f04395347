import t from 'tap';
import type { Clock } from '../../../../core/base/clock.ts';
import { createAdmission } from '../../../../core/kernel/worker/pool.ts';

const never = new AbortController().signal;

/** Sleeps end when the test says so. */
function stoppedClock() {
  const ends: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        ends.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  return { clock, endSleeps: () => ends.splice(0).forEach((end) => void end()) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('admits a second caller once it has waited, and none beyond the limit', async (t) => {
  const { clock, endSleeps } = stoppedClock();
  const admission = createAdmission(2, clock);
  const entered: number[] = [];
  for (const id of [1, 2, 3]) admission.enter(never).then((isAdmitted) => isAdmitted && entered.push(id));
  await turn();
  t.strictSame(entered, [1]);
  endSleeps();
  await turn();
  t.strictSame(entered, [1, 2]);
  admission.exit();
  await turn();
  t.strictSame(entered, [1, 2, 3]);
});

t.test('admits an urgent caller at once while a place is free', async (t) => {
  const admission = createAdmission(2, stoppedClock().clock);
  await admission.enter(never);
  t.equal(await admission.enter(never, true), true);
  const third = admission.enter(never, true);
  t.equal(await Promise.race([third, turn().then(() => 'waits')]), 'waits');
  admission.exit();
  t.equal(await third, true);
});

t.test('a caller admitted in the turn in which its wait ends uses only one place', async (t) => {
  const { clock, endSleeps } = stoppedClock();
  const admission = createAdmission(2, clock);
  const entered: number[] = [];
  await admission.enter(never);
  for (const id of [1, 2]) admission.enter(never).then(() => entered.push(id));
  endSleeps();
  admission.exit();
  await turn();
  t.strictSame(entered, [1, 2]);
  for (const _ of entered) admission.exit();
  const free = [admission.enter(never), admission.enter(never)];
  t.strictSame(await Promise.all(free), [true, true], 'every place was given back');
});

t.test('a caller that aborts while it waits is not admitted and leaves the queue', async (t) => {
  const { clock, endSleeps } = stoppedClock();
  const admission = createAdmission(2, clock);
  const leaver = new AbortController();
  await admission.enter(never);
  const left = admission.enter(leaver.signal);
  const stays = admission.enter(never);
  leaver.abort();
  t.equal(await left, false);
  admission.exit();
  t.equal(await stays, true);
  endSleeps();
  t.equal(await admission.enter(AbortSignal.abort()), false);
});
