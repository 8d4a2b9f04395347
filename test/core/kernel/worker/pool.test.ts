import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../core/base/clock.ts';
import type { RuleTask } from '../../../../core/kernel/worker/evaluate-rule-in-thread.ts';
import { createPool, evaluateRuleTask, type PoolOptions } from '../../../../core/kernel/worker/pool.ts';
import { defineTask } from '../../../../core/kernel/worker/task.ts';
import { toRuleInput } from '../../../../testing.ts';
import { until } from '../../../waiting/until.ts';

const limits = { timeoutMs: 240_000 };
const task = (file: string, id = file): RuleTask => ({
  id,
  module: new URL(`./rules/${file}.ts`, import.meta.url).href,
  input: toRuleInput({ name: id, args: [id], files: { a: { candidate: 'x\n' } } }),
});

function poolFor(t: Test, options: Partial<PoolOptions> = {}) {
  const pool = createPool({ clock: systemClock, threads: 2, ...options });
  t.teardown(() => pool.close());
  return pool;
}

t.test('returns results as values and errors as records', async (t) => {
  const pool = poolFor(t);
  t.match(await pool.run(evaluateRuleTask, task('answers'), limits), {
    ok: true,
    value: [{ rule: 'answers' }],
  });
  t.strictSame(await pool.run(evaluateRuleTask, task('throws'), limits), {
    ok: false,
    reason: 'threw',
    error: { name: 'RangeError', message: 'no such thing' },
  });
});

t.test('reports an input that cannot be sent to a thread as `unsendable`', async (t) => {
  const input = { ...task('answers'), extra: () => {} };
  t.match(await poolFor(t).run(evaluateRuleTask, input, limits), { ok: false, reason: 'unsendable' });
});

t.test('a thread gets shared memory without a copy and no environment variables', async (t) => {
  const given = task('surroundings');
  process.env.WRIT_TEST_SECRET = 'x';
  const outcome = await poolFor(t).run(evaluateRuleTask, given, limits);
  if (!outcome.ok) throw new Error(outcome.error.message);
  t.strictSame(outcome.value[0]?.detail, { environment: [], shared: true });
  t.equal(given.input.patch.diff[0], 42, 'the mark that the thread left is seen here');
});

t.test('runs only tasks that `defineTask` created from a file URL', async (t) => {
  const pool = poolFor(t);
  const told = JSON.parse(JSON.stringify(evaluateRuleTask)) as typeof evaluateRuleTask;
  t.strictSame(told, evaluateRuleTask);
  await t.rejects(pool.run(told, task('answers'), limits), { code: 'PLUGIN_INVALID' });
  t.throws(() => defineTask(new URL('data:text/javascript,export const run = () => 1')), {
    code: 'PLUGIN_INVALID',
  });
});

t.test('discards what a task prints, and an idle pool lets the process exit', async (t) => {
  const script = `
    import { systemClock } from '${new URL('../../../../core/base/clock.ts', import.meta.url)}';
    import { createPool, evaluateRuleTask } from '${new URL('../../../../core/kernel/worker/pool.ts', import.meta.url)}';
    const pool = createPool({ clock: systemClock, threads: 1 });
    const outcome = await pool.run(evaluateRuleTask, ${JSON.stringify({ ...task('prints'), input: {} })}, { timeoutMs: 240000 });
    process.stdout.write(JSON.stringify(outcome));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 240_000,
  });
  t.equal(child.stdout, '{"ok":true,"value":[]}');
  t.equal(child.stderr, '');
  t.equal(child.status, 0, 'and an idle pool keeps no process alive');
});

t.test('time spent waiting for a thread does not count towards a task’s timeout', async (t) => {
  const pool = poolFor(t, { threads: 1 });
  const slow = pool.run(evaluateRuleTask, task('hangs'), { timeoutMs: 4000 });
  const behind = pool.run(evaluateRuleTask, task('answers'), { timeoutMs: 3900 });
  t.match(await slow, { ok: false, reason: 'deadline' });
  t.match(await behind, { ok: true });
});

t.test('aborting ends a running task and removes a waiting one from the queue', async (t) => {
  const pool = poolFor(t, { threads: 1 });
  const first = new AbortController();
  const second = new AbortController();
  const looping = task('loops');
  const running = pool.run(evaluateRuleTask, looping, { ...limits, signal: first.signal });
  const waiting = pool.run(evaluateRuleTask, task('answers', 'second'), { ...limits, signal: second.signal });
  const last = pool.run(evaluateRuleTask, task('answers', 'last'), limits);
  second.abort();
  t.match(await waiting, { ok: false, reason: 'aborted' });
  await until(() => looping.input.patch.diff[0] === 42, 'its begin');
  first.abort();
  t.match(await running, { ok: false, reason: 'aborted' });
  t.match(await last, { ok: true, value: [{ rule: 'last' }] });
  t.match(await pool.run(evaluateRuleTask, task('answers'), { ...limits, signal: AbortSignal.abort() }), {
    ok: false,
    reason: 'aborted',
  });
});

t.test('closing ends running and waiting tasks, and a closed pool runs nothing', async (t) => {
  const pool = createPool({ clock: systemClock, threads: 1 });
  const looping = task('loops');
  const running = pool.run(evaluateRuleTask, looping, limits);
  const waiting = pool.run(evaluateRuleTask, task('answers'), limits);
  await until(() => looping.input.patch.diff[0] === 42, 'its begin');
  await pool.close();
  t.match(await running, { ok: false, reason: 'aborted' });
  t.match(await waiting, { ok: false, reason: 'aborted' });
  await t.rejects(pool.run(evaluateRuleTask, task('answers'), limits), { code: 'WORKER_FAULT' });
  await pool.close();
});

t.test('a pool that never ran a task closes', async (t) => {
  const pool = createPool({ clock: systemClock });
  t.ok(pool.threads >= 2 && pool.threads <= 8);
  await pool.close();
});

t.test('a warmed thread answers the first task, and a pool can be closed while it warms', async (t) => {
  const pool = poolFor(t);
  pool.warm([]);
  t.match(await pool.run(evaluateRuleTask, task('answers'), limits), {
    ok: true,
    value: [{ rule: 'answers' }],
  });
  const closed = createPool({ clock: systemClock });
  closed.warm([]);
  await closed.close();
  closed.warm([]);
});

t.test(
  'preloads named modules, and a module that cannot be loaded fails only when its task runs',
  async (t) => {
    const said = async (ahead: readonly string[]) => {
      const pool = poolFor(t, { threads: 1 });
      pool.warm(ahead.map((file) => task(file).module));
      const outcome = await pool.run(evaluateRuleTask, task('says-loaded'), limits);
      t.match(await pool.run(evaluateRuleTask, task('no-such-rule'), limits), { ok: false, reason: 'threw' });
      return outcome.ok ? outcome.value[0]?.message : outcome;
    };
    t.equal(await said(['no-such-rule', 'loaded-ahead']), 'true');
    t.equal(await said([]), 'false');
  },
);

t.test('many tasks on few threads all return, each with its own answer', async (t) => {
  const pool = poolFor(t);
  const ids = Array.from({ length: 300 }, (_, i) => `rule-${i}`);
  const outcomes = await Promise.all(
    ids.map((id) => pool.run(evaluateRuleTask, task('answers', id), limits)),
  );
  t.strictSame(
    outcomes.map((outcome) => (outcome.ok ? outcome.value[0]?.rule : outcome)),
    ids,
  );
});

t.test('work that a task leaves for the next turn always comes before its answer', async (t) => {
  const rounds = 200;
  for (const how of ['turn', 'rejection']) {
    const thread = new Worker(new URL('./asks-often.ts', import.meta.url), {
      workerData: { how, rounds },
      stdout: true,
      stderr: true,
    });
    const [order] = await once(thread, 'message');
    t.strictSame(order, Array.from({ length: rounds }, () => ['left', 'answered']).flat(), how);
  }
});
