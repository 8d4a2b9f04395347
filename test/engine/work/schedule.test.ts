import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { type ScheduleRequest, schedule, type TaskEnd } from '../../../engine/work/schedule.ts';
import { long } from '../../rooms/long.ts';

interface Task {
  readonly key: string;
  readonly number: number;
  readonly dependsOn: readonly string[];
  readonly predictedWrites?: readonly string[];
}

const task = (number: number, dependsOn: readonly number[] = [], writes?: readonly string[]): Task => ({
  key: `t${number}`,
  number,
  dependsOn: dependsOn.map((before) => `t${before}`),
  ...(writes === undefined ? {} : { predictedWrites: writes }),
});

/** Works for some turns of the event loop, and writes down who ran beside whom. */
function slowly(turns: (task: Task) => number = () => 1) {
  const running = new Set<Task>();
  const seen: Task[] = [];
  let most = 0;
  const beside: (readonly [Task, Task])[] = [];
  const work = async (one: Task): Promise<TaskEnd> => {
    for (const other of running) beside.push([other, one]);
    running.add(one);
    seen.push(one);
    most = Math.max(most, running.size);
    for (let turn = turns(one); turn > 0; turn -= 1) await setImmediate();
    running.delete(one);
    return 'done';
  };
  return { work, seen, beside, running, most: () => most };
}

/** A repeatable source of numbers below `bound`. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * bound);
  };
}

const run = (tasks: readonly Task[], more: Partial<ScheduleRequest<Task>> = {}) =>
  schedule({ tasks, limit: () => 4, work: () => 'done', ...more });

t.test(
  'ready Tasks start in order of number, after their dependencies, the same way every time',
  async (t) => {
    const tasks = [task(5), task(1, [4]), task(3), task(4), task(2, [1, 3])];
    for (const limit of [1, 2, 8]) {
      const orders: string[][] = [];
      for (let round = 0; round < 3; round += 1) {
        const order: string[] = [];
        const work = (one: Task): TaskEnd => {
          order.push(one.key);
          return 'done';
        };
        const outcome = await run(tasks, { limit: () => limit, work });
        t.strictSame(outcome, { done: order, failed: [], stopped: [], notStarted: [] });
        orders.push(order);
      }
      t.strictSame(orders[1], orders[0]);
      t.strictSame(orders[2], orders[0]);
      if (limit === 1) t.strictSame(orders[0], ['t3', 't4', 't1', 't2', 't5']);
      if (limit === 8) t.strictSame(orders[0], ['t3', 't4', 't5', 't1', 't2']);
    }
  },
);

t.test('as many Tasks run at once as the limit allows and no more', async (t) => {
  const tasks = Array.from({ length: 40 }, (_, at) => task(at + 1, at < 20 ? [] : [at - 19]));
  const number = numbers(7);
  for (const limit of [1, 3, 16]) {
    const worker = slowly(() => 1 + number(4));
    const { done } = await run(tasks, { limit: () => limit, work: worker.work });
    t.equal(worker.most(), limit);
    t.equal(done.length, 40);
  }
});

t.test('a limit that changes during the run applies to the next start', async (t) => {
  const tasks = Array.from({ length: 30 }, (_, at) => task(at + 1));
  let ended = 0;
  const limit = () => (ended < 10 ? 4 : ended < 20 ? 1 : 3);
  const atStart: (readonly [number, number])[] = [];
  const worker = slowly();
  await run(tasks, {
    limit,
    work: async (one) => {
      atStart.push([worker.running.size + 1, limit()]);
      const end = await worker.work(one);
      ended += 1;
      return end;
    },
  });
  t.ok(atStart.every(([running, most]) => running <= most));
  for (const most of [4, 1, 3])
    t.ok(
      atStart.some(([running, at]) => at === most && running === most),
      `${most}`,
    );
});

t.test('a limit of zero or less, or NaN, still lets one Task run', async (t) => {
  for (const limit of [0, -1, Number.NaN]) {
    const worker = slowly();
    t.equal((await run([task(1), task(2)], { limit: () => limit, work: worker.work })).done.length, 2);
    t.equal(worker.most(), 1, `${limit}`);
  }
});

const meets = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
const conflict = (one: Task, other: Task): boolean =>
  (one.predictedWrites ?? []).some((path) => (other.predictedWrites ?? []).some((o) => meets(path, o)));

t.test('Tasks with overlapping predicted writes never run at once, and all of them finish', async (t) => {
  const paths = ['a', 'a/b', 'a/b/c.ts', 'a/b/d.ts', 'a/e.ts', 'f.ts', 'g/h.ts', 'g'];
  let parallel = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const number = numbers(seed);
    const tasks = Array.from({ length: 40 }, (_, at) =>
      task(
        at + 1,
        at > 0 && number(3) === 0 ? [1 + number(at)] : [],
        number(6) === 0
          ? undefined
          : Array.from({ length: 1 + number(3) }, () => paths[number(paths.length)] ?? ''),
      ),
    );
    const worker = slowly(() => 1 + number(3));
    const { done } = await run(tasks, { limit: () => 1 + number(6), work: worker.work });
    t.equal(new Set(done).size, 40, `seed ${seed}`);
    t.strictSame(
      worker.beside.filter(([one, other]) => conflict(one, other)),
      [],
      `seed ${seed}`,
    );
    parallel += worker.beside.length;
  }
  t.ok(parallel > 1000, `${parallel} pairs ran at once`);
});

t.test('Tasks with disjoint or unknown predicted writes run side by side', async (t) => {
  const most = async (...writes: readonly (readonly string[] | undefined)[]) => {
    const worker = slowly();
    await run(
      writes.map((one, at) => task(at + 1, [], one)),
      { limit: () => 9, work: worker.work },
    );
    return worker.most();
  };
  t.equal(await most(['a.ts'], ['b.ts'], ['c/d.ts'], ['c/e.ts']), 4);
  t.equal(await most(['a.ts'], undefined, undefined, ['a.ts']), 3);
  t.equal(await most([], [], ['a.ts']), 3, 'predicted to write nothing');
  t.equal(await most(['src'], ['src/a.ts']), 1);
  t.equal(await most(['src/'], ['src/a.ts']), 1);
  t.equal(await most(['src/**'], ['src/a/b.ts']), 1);
  t.equal(await most(['src/*.ts'], ['src/a.ts']), 1, 'a glob counts as its directory');
  t.equal(await most(['*.md'], ['src/a.ts']), 1);
  t.equal(await most(['src/a.ts', 'lib'], ['lib/x.ts'], ['src/a.ts']), 2);
  t.equal(await most(['src'], ['src-2/a.ts'], ['srcs']), 3, 'a name that only begins alike');
});

t.test('a Task that waited for a path starts before later Tasks that write the same path', async (t) => {
  const worker = slowly();
  const tasks = [task(1, [], ['a.ts']), task(2, [], ['a.ts']), task(3, [], ['a.ts']), task(4, [], ['b.ts'])];
  await run(tasks, { work: worker.work });
  t.strictSame(
    worker.seen.map(({ number }) => number),
    [1, 4, 2, 3],
  );
});

t.test('a Task that waits for a second path does not delay the others', async (t) => {
  const worker = slowly(({ number }) => [0, 2, 9, 1, 1][number] ?? 1);
  const tasks = [task(1, [], ['x']), task(2, [], ['y']), task(3, [], ['x', 'y']), task(4, [], ['x'])];
  await run(tasks, { work: worker.work });
  t.ok(worker.beside.some(([one, other]) => one.number === 2 && other.number === 4));
  const files = slowly();
  await run([task(1, [], ['a']), task(2, [], ['a/b']), task(3, [], ['a/c']), task(4, [], ['a/d'])], {
    work: files.work,
  });
  t.equal(files.most(), 3, 'files of a directory, once it is free');
});

t.test('dependents of a failed Task never start, and the other Tasks go on', async (t) => {
  const tasks = [task(1), task(2, [1]), task(3, [2]), task(4), task(5, [4])];
  const outcome = await run(tasks, { work: ({ number }) => (number === 1 ? 'failed' : 'done') });
  t.strictSame(outcome, { done: ['t4', 't5'], failed: ['t1'], stopped: [], notStarted: ['t2', 't3'] });
});

t.test('after a stop no Task starts, and running Tasks are awaited', async (t) => {
  const worker = slowly(({ number }) => number * 3);
  const tasks = [task(1), task(2), task(3), task(4, [2]), task(5)];
  const outcome = await run(tasks, {
    limit: () => 3,
    work: async (one) => ((await worker.work(one)) === 'done' && one.number === 1 ? 'stop' : 'done'),
  });
  t.strictSame(outcome, { done: ['t2', 't3'], failed: [], stopped: ['t1'], notStarted: ['t4', 't5'] });
});

t.test('the first rejection is thrown after every running Task has ended', async (t) => {
  for (const isSync of [true, false]) {
    const worker = slowly(({ number }) => number * 3);
    const fault = new Error('broken');
    const work = (one: Task): Promise<TaskEnd> => {
      if (one.number > 1) return worker.work(one);
      if (isSync) throw fault;
      return Promise.reject(fault);
    };
    await t.rejects(run([task(1), task(2), task(3), task(4)], { limit: () => 3, work }), fault);
    t.equal(worker.running.size, 0);
    t.notOk(worker.seen.some(({ number }) => number === 4));
  }
});

t.test('an abort starts no further Task, awaits running ones and is thrown', async (t) => {
  const ending = new AbortController();
  const worker = slowly(() => 3);
  const reason = new Error('cancelled');
  const work = (one: Task): Promise<TaskEnd> => {
    if (one.number === 2) ending.abort(reason);
    return worker.work(one);
  };
  await t.rejects(run([task(1), task(2), task(3)], { limit: () => 2, work, signal: ending.signal }), reason);
  t.strictSame([worker.seen.length, worker.running.size], [2, 0]);
  await t.rejects(run([task(1)], { signal: AbortSignal.abort(reason) }), reason, 'before the start');
  const late = new AbortController();
  const atTheEnd = await run([task(1)], {
    signal: late.signal,
    work: () => {
      late.abort(reason);
      return 'done';
    },
  });
  t.strictSame(atTheEnd.done, ['t1'], 'with nothing left undone there is nothing to throw');
});

t.test('Tasks that were done before are not run again and block no other Task', async (t) => {
  const outcome = await run([task(1), task(2, [1]), task(3, [2])], { done: new Set(['t1', 't2']).values() });
  t.strictSame(outcome, { done: ['t3'], failed: [], stopped: [], notStarted: [] });
  t.strictSame((await run([])).done, []);
});

t.test('a plan with a cycle or an invalid dependency is refused before any work', async (t) => {
  const work = (): TaskEnd => {
    t.fail('worked');
    return 'done';
  };
  await t.rejects(run([task(1, [2]), task(2, [1])], { work }), { code: 'PLAN_CYCLE' });
  await t.rejects(run([task(1, [1])], { work }), { code: 'PLAN_INVALID' });
  await t.rejects(run([task(1, [9])], { work }), { code: 'PLAN_INVALID' });
  await t.rejects(run([task(1), task(1)], { work }), { code: 'PLAN_INVALID' });
});

long('a chain of 100,000 Tasks runs without recursion', async (t) => {
  const { done } = await run(Array.from({ length: 100_000 }, (_, at) => task(at + 1, at === 0 ? [] : [at])));
  t.equal(done.length, 100_000);
  t.equal(done.at(-1), 't100000');
});

t.test('the work of scheduling grows linearly with the number of Tasks', async (t) => {
  const shapes: Readonly<Record<string, (at: number) => Pick<Task, 'predictedWrites'>>> = {
    'all write one file': () => ({ predictedWrites: ['a/b.ts'] }),
    'all write one file and one of their own': (at) => ({ predictedWrites: [`own/${at}.ts`, 'a/b.ts'] }),
    'directory and files in turn': (at) => ({ predictedWrites: [at % 2 === 0 ? 'a' : `a/${at}.ts`] }),
    'two shared files in turn': (at) => ({
      predictedWrites: at % 3 === 0 ? ['x', 'y'] : [at % 3 === 1 ? 'x' : 'y'],
    }),
    'nobody knows': () => ({}),
  };
  for (const [name, writes] of Object.entries(shapes)) {
    let looks = 0;
    const count = 4000;
    const tasks = Array.from({ length: count }, (_, at) => ({
      key: `t${at + 1}`,
      get number() {
        looks += 1;
        return at + 1;
      },
      dependsOn: [],
      ...writes(at),
    }));
    const { done } = await run(tasks, { work: () => Promise.resolve('done') });
    t.equal(done.length, count, name);
    t.ok(looks < count * 300, `${name}: ${looks} looks at ${count} tasks`);
    t.comment(`${name}: ${(looks / count).toFixed(0)} looks per task`);
  }
});
