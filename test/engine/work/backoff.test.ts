import t from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { retryWaitSeconds, waitUntil } from '../../../engine/work/work-plan.ts';
import { instant } from '../../waiting/instant.ts';

/** Time that passes only in sleeps; `step` says what else happens to the clock in each. */
function clockAt(startMs: number, step: (slept: number) => number = () => 0) {
  let now = startMs;
  const slept: number[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => slept.reduce((sum, ms) => sum + ms, 0),
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms + step(slept.length);
    },
  };
  return { clock, slept: () => slept.reduce((sum, ms) => sum + ms, 0) };
}

t.test('the wait doubles with every retry, up to an hour', async (t) => {
  const waits = (backoff: number) => [1, 2, 3, 4, 9, 10, 20].map((retry) => retryWaitSeconds(backoff, retry));
  t.strictSame(waits(10), [10, 20, 40, 80, 2560, 3600, 3600]);
  t.strictSame(waits(1), [1, 2, 4, 8, 256, 512, 3600]);
  t.strictSame(waits(3600), [3600, 3600, 3600, 3600, 3600, 3600, 3600]);
  t.strictSame(waits(0), [0, 0, 0, 0, 0, 0, 0]);
});

t.test('any number of retries gives a finite wait', async (t) => {
  for (const backoff of [0, 1, 3600]) {
    for (const retry of [21, 1024, 1_000_000, Number.POSITIVE_INFINITY]) {
      t.equal(retryWaitSeconds(backoff, retry), backoff === 0 ? 0 : 3600);
    }
  }
});

t.test('a wait ends at the recorded time and is skipped when that time has passed', async (t) => {
  for (const left of [1, 20_000, 90_500, 3_600_000]) {
    const { clock, slept } = clockAt(1_000_000);
    await waitUntil(clock, 1_000_000 + left);
    t.equal(slept(), left);
  }
  for (const due of [1_000_000, 999_999, 0, Number.NaN]) {
    const { clock, slept } = clockAt(1_000_000);
    await waitUntil(clock, due);
    t.equal(slept(), 0);
  }
});

t.test('a wait that another process began lasts only its remaining time', async (t) => {
  const { clock, slept } = clockAt(1_030_000);
  await waitUntil(clock, 1_000_000 + retryWaitSeconds(10, 3) * 1000);
  t.equal(slept(), 10_000);
});

t.test('a clock that is set back lengthens no wait', async (t) => {
  const back = clockAt(1_000_000_000, (slice) => (slice === 1 ? -500_000_000 : 0));
  await waitUntil(back.clock, 1_000_100_000);
  t.equal(back.slept(), 100_000);
  const before = clockAt(0);
  await waitUntil(before.clock, 1_000_000_000);
  t.equal(before.slept(), 3_600_000, 'stepped back while no process was there: the cap holds');
});

t.test('a clock that is set forward, or a machine that slept, ends the wait early', async (t) => {
  const { clock, slept } = clockAt(1_000_000, (slice) => (slice === 1 ? 10_000_000 : 0));
  await waitUntil(clock, 1_000_000 + 3_600_000);
  t.ok(slept() <= 60_000, `${slept()} ms`);
});

t.test('an abort ends the wait at once, even with a clock that ignores the signal', async (t) => {
  const ending = new AbortController();
  const reason = new Error('cancelled');
  const waiting = waitUntil(systemClock, systemClock.now() + 3_000_000, ending.signal);
  const started = systemClock.monotonic();
  void instant(20).then(() => ending.abort(reason));
  await t.rejects(waiting, reason);
  t.ok(systemClock.monotonic() - started < 60_000);
  await t.rejects(
    waitUntil(systemClock, 0, AbortSignal.abort(reason)),
    reason,
    'even with nothing to wait for',
  );
  const deaf = clockAt(0);
  const late = new AbortController();
  const sleep = (ms: number): Promise<void> => {
    late.abort(reason);
    return deaf.clock.sleep(ms);
  };
  const clock = { ...deaf.clock, sleep };
  await t.rejects(waitUntil(clock, 120_000, late.signal), reason, 'nor does a clock that ignores it hide it');
  t.ok(deaf.slept() <= 30_000);
});
